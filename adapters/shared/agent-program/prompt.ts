import type { ExecutionRequest } from "#contract";

/**
 * Begins every prompt, so that no message begins one: several programs obey a leading `/` as a command of their own.
 * Part of the sessions that are resumed; the real-runtime suite knows it.
 */
export const promptOpening = "Your task:\n\n";

/** The prompt of a task. With `systemPrompt`, for programs that cannot take one beside it, the instructions go in front in a labelled block. */
export function promptOf({ message }: Pick<ExecutionRequest, "message">, systemPrompt?: string): string {
  const instructions = systemPrompt === undefined ? "" : `Instructions:\n<instructions>\n${systemPrompt}\n</instructions>\n\n`;
  return `${instructions}${promptOpening}${message}`;
}
