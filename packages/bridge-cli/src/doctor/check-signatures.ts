import type { Identity } from "bridge-client";
import { type Check, ok, warning } from "./check.ts";

/** Reports whether Bridge signs callbacks. */
export function checkSignatures(isSigned: NonNullable<Identity["signsCallbacks"]>): Check {
  if (isSigned) return ok("signatures", "Bridge signs callbacks.");
  return warning(
    "signatures",
    "Bridge does not sign callbacks, so receivers cannot verify them.",
    "Set BRIDGE_CALLBACK_SECRETS to a secret that you share with the receivers, and restart Bridge: docs/callbacks.md#verify-the-signature",
  );
}
