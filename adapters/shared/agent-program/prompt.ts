import type { ExecutionRequest } from "#contract";

/**
 * The first line of every prompt. Several programs run a prompt that starts with `/` as a command, so a message never starts a prompt.
 * Existing sessions contain it.
 */
export const promptOpening = "Your task:\n\n";

/**
 * The prompt of a task. `systemPrompt` is for programs that have no parameter for it: the instructions precede the
 * message in a labeled block.
 */
export function promptOf({ message }: Pick<ExecutionRequest, "message">, systemPrompt?: string): string {
  const instructions = systemPrompt === undefined ? "" : `Instructions:\n<instructions>\n${systemPrompt}\n</instructions>\n\n`;
  return `${instructions}${promptOpening}${message}`;
}
