import type { Step } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";

/** Incomplete answers in a row after which the task fails. OpenCode itself would retry forever. */
const MAX_INCOMPLETE_ANSWERS = 4;

/** Receives the finish reason of each model call; its only state is the count. */
export type IncompleteAnswerCounter = (reason: string) => Step[];

/** Creates a counter of consecutive model calls whose answer ended without a finish reason. */
export function createIncompleteAnswerCounter(): IncompleteAnswerCounter {
  let count = 0;
  return (reason) => {
    const isIncomplete = reason === "unknown" || reason === "other";
    count = isIncomplete ? count + 1 : 0;
    // OpenCode discards an incomplete answer and calls the model again.
    if (count < MAX_INCOMPLETE_ANSWERS) return [isIncomplete ? DISCARD_INCOMPLETE_ANSWER : { kind: "kept" }];
    const error = `The model's answer was incomplete ${count} times in a row. Check that the provider implements the configured protocol.`;
    return [{ kind: "ended", outcome: failure("model_error", error) }];
  };
}

/** Discards the text of an incomplete answer. */
export const DISCARD_INCOMPLETE_ANSWER: Step = { kind: "discarded", reason: "The model's answer was incomplete." };
