import { failure } from "./failure.ts";
import { PROCESS_LIMITS } from "./run-process.ts";

/** Maximum text of a task, in bytes as JSON encodes it, because a result is stored and sent in this form. */
export const MAX_TEXT_BYTES: number = PROCESS_LIMITS.stdoutBytes;

/** The result of a task that exceeded the limit. */
export const textLimitFailure = failure(
  "output_limit",
  `The runtime wrote more than ${MAX_TEXT_BYTES / 1024 ** 2} MiB of text, measured in its JSON encoding.`,
);

/** Creates a counter of bytes that returns false once their sum exceeds the limit. */
export function createTextLimit(maxBytes = MAX_TEXT_BYTES): (bytes: number) => boolean {
  let sum = 0;
  return (bytes) => {
    sum += bytes;
    return sum <= maxBytes;
  };
}
