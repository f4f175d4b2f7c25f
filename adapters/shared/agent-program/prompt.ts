import type { ExecutionRequest } from "#contract";

/**
 * The first line of every prompt. Several programs run a prompt that starts with `/` as a command, so no prompt starts with the message.
 * The line must not change, because it is part of stored sessions.
 */
export const PROMPT_OPENING = "Your task:\n\n";

/**
 * Formats the prompt of a task. `systemPrompt` is for programs that have no parameter for it: the instructions precede the
 * message in a labeled block.
 */
export function formatPrompt({ message }: Pick<ExecutionRequest, "message">, systemPrompt?: string): string {
  const instructions = systemPrompt === undefined ? "" : `Instructions:\n<instructions>\n${systemPrompt}\n</instructions>\n\n`;
  return `${instructions}${PROMPT_OPENING}${message}`;
}
