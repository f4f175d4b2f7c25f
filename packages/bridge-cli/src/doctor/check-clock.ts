import { formatDuration } from "../format.ts";
import { type Check, failed, ok, warning } from "./check.ts";
import type { AddressAnswer } from "./check-address.ts";

/** Clocks that are synchronized differ by less than a second. Signatures of callbacks allow five minutes. */
const MAX_SKEW_MS = 30_000;
/** `Date` has whole seconds. */
const DATE_STEP_MS = 1_000;

/** Compares the clock of this machine with that of Bridge. */
export function checkClock({ date, sentAt, receivedAt }: NonNullable<AddressAnswer["clock"]>): Check {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs))
    return warning("clock", "The response has no Date header, so the clocks cannot be compared.", "Let the proxy pass the Date header.");
  // Bridge set the header between the two times, so a slow machine does not appear as a wrong clock.
  const aheadMs = sentAt - DATE_STEP_MS - theirs;
  const behindMs = theirs - receivedAt;
  const skewMs = Math.max(aheadMs, behindMs, 0);
  if (skewMs <= MAX_SKEW_MS) return ok("clock", "The clocks of this machine and of Bridge agree.");
  return failed(
    "clock",
    `The clock of this machine is ${formatDuration(skewMs)} ${aheadMs > 0 ? "ahead of" : "behind"} that of Bridge. Above 5 min, receivers reject signed callbacks.`,
    "Synchronize the clock that is wrong, on Linux with: sudo timedatectl set-ntp true",
  );
}
