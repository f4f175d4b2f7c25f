import { type MatchedResults, textOfResult } from "./open-calls.ts";

/** A longer input is not repeated: the conversation has it. */
const MAX_INPUT_LENGTH = 4_000;

/**
 * The message that brings a program the results of calls. Its own transcript shows them as interrupted, or with a result that only puts the model off, so
 * each result stands with its call.
 */
export function resultsMessage({ results, rest }: MatchedResults): string {
  const rows = results.map(([{ toolCallId, toolName, input }, result]) => {
    const repeated = JSON.stringify(input).length <= MAX_INPUT_LENGTH ? { input } : {};
    return JSON.stringify({ toolCallId, tool: toolName, ...repeated, result: textOfResult(result) });
  });
  return [
    "You called the tools below. Your turn ended there, because their results came from outside. The calls have now been carried out.",
    "These results replace whatever the conversation shows for the calls, such as an interruption. Do not repeat the calls. Continue from here.",
    "",
    "<tool_results>",
    ...rows,
    "</tool_results>",
    ...(rest === "" ? [] : ["", rest]),
  ].join("\n");
}
