import type { ExecutionResult } from "#contract";
import type { BridgeError } from "../../errors.ts";
import { failedResult } from "../../results/failed-result.ts";

/** The result of a child or an accepted task that is rejected. Its text contains the faults of single fields. */
export const toRejectedResult = ({ code, message, errors }: BridgeError): ExecutionResult =>
  failedResult(
    code === "adapter_offline" ? "adapter_offline" : "adapter_error",
    [message, ...errors.map((fault) => `${fault.path} ${fault.message}.`)].join(" "),
  );
