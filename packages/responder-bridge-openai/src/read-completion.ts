import { OpenAiError } from "./openai-error.ts";

interface Choice {
  message?: { content?: unknown; refusal?: unknown };
  finish_reason?: unknown;
}

/** Returns the text of a completion. Throws if it is truncated, because a truncated document may pass a validator. */
export function readCompletion(answer: unknown): string {
  const choices: unknown = typeof answer === "object" && answer !== null && "choices" in answer && answer.choices;
  const choice: Choice | undefined = Array.isArray(choices) ? choices[0] : undefined;
  const { content, refusal } = choice?.message ?? {};
  if (choice?.finish_reason === "length") throw new OpenAiError("The model reached its token limit; the document is incomplete.");
  if (choice?.finish_reason === "content_filter") throw new OpenAiError("A content filter truncated the document.");
  if (typeof refusal === "string" && refusal !== "") throw new OpenAiError(`The model refused: ${refusal.slice(0, 500)}`);
  if (typeof content !== "string" || content === "") throw new OpenAiError("The model returned no text.");
  return content;
}
