import type { Step } from "../shared/agent-program/run-program.ts";
import { failure } from "./failures.ts";

/** After so many broken answers in a row the task is given up: OpenCode itself would call the model for ever. */
const MAX_BROKEN_CALLS = 4;

/** Hears how each call of the model has ended; pure but for its count. */
export type BrokenCalls = (reason: string) => Step[];

/** Begins to count the calls in a row whose answer broke off without a reason for its end. */
export function createBrokenCalls(): BrokenCalls {
  let count = 0;
  return (reason) => {
    const isBroken = reason === "unknown" || reason === "other";
    count = isBroken ? count + 1 : 0;
    // OpenCode asks again after a broken answer; of a whole one the text stays.
    if (count < MAX_BROKEN_CALLS) return [isBroken ? brokeOff : { kind: "kept" }];
    const error = `The model's answer broke off ${count} times in a row. Does the provider speak the protocol that it is configured for?`;
    return [{ kind: "ended", ending: failure("model_error", error) }];
  };
}

/** The text of the call is thrown away. */
export const brokeOff: Step = { kind: "discarded", reason: "The model's answer broke off." };
