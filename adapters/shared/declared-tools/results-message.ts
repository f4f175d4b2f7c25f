import { formatResult, type MatchedResults } from "./open-calls.ts";

/** Longer inputs are omitted, because the conversation contains them. */
const MAX_INPUT_LENGTH = 4_000;

/**
 * Formats the message that passes the results of calls to a program. The program's transcript shows the calls as
 * interrupted or with a placeholder result, so the message lists each call with its result.
 */
export function formatResultsMessage({ results, rest }: MatchedResults): string {
  const rows = results.map(([{ toolCallId, toolName, input }, result]) => {
    const repeated = JSON.stringify(input).length <= MAX_INPUT_LENGTH ? { input } : {};
    return JSON.stringify({ toolCallId, tool: toolName, ...repeated, result: formatResult(result) });
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
