import { processLimits } from "./run-process.ts";

/** Text of a task as it is stored and sent, in bytes of JSON: a result is kept and sent as a whole, so it is bounded like the output of any program. */
export const MAX_TEXT_BYTES: number = processLimits.stdoutBytes;

/** How a task ends that has written more text. */
export const textLimitFailure = {
  status: "error",
  errorCode: "output_limit",
  error: `The runtime wrote more than ${MAX_TEXT_BYTES / 1024 ** 2} MiB of text, measured as it is encoded in JSON.`,
} as const;

/** Creates a counter of bytes; it returns false when their sum is over the limit, and from then on. */
export function createTextLimit(maxBytes = MAX_TEXT_BYTES): (bytes: number) => boolean {
  let sum = 0;
  return (bytes) => {
    sum += bytes;
    return sum <= maxBytes;
  };
}
