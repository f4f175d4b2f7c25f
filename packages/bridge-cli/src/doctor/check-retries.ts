import type { ServiceInfo } from "bridge-client";
import { formatDuration } from "../format.ts";
import { type Check, ok } from "./check.ts";

/** Below this time, the restart of a receiver can lose callbacks. */
const SHORT_SECONDS = 3600;

/** Reports for how long Bridge retries a callback. */
export function checkRetries({ retries, seconds }: NonNullable<ServiceInfo["callbackRetries"]>): Check {
  const schedule = `A callback is retried ${retries} time(s), over ${formatDuration(seconds * 1000)}.`;
  return ok("retries", seconds < SHORT_SECONDS ? `${schedule} For production, set BRIDGE_CALLBACK_RETRIES=three-days.` : schedule);
}
