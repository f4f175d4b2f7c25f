import type { ModelMessage, ToolModelMessage } from "ai";
import { formatResult, type MatchedResults, matchResults, type OpenCall } from "../declared-tools/open-calls.ts";
import { ModelFailure } from "./model-failure.ts";

/** Returns the tool calls of a conversation that have no result. */
export function findOpenCalls(messages: readonly ModelMessage[]): OpenCall[] {
  const answeredIds = new Set(
    messages.flatMap(({ role, content }) =>
      role === "tool" ? content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])) : [],
    ),
  );
  return messages.flatMap(({ role, content }) => {
    if (role !== "assistant" || typeof content === "string") return [];
    return content.flatMap((part) =>
      part.type === "tool-call" && part.providerExecuted !== true && !answeredIds.has(part.toolCallId)
        ? [{ toolCallId: part.toolCallId, toolName: part.toolName, input: part.input }]
        : [],
    );
  });
}

/**
 * Appends the caller's message to a conversation. If calls are open, the message must contain their results, because vendors
 * reject a call without a result.
 */
export function appendUserMessage(messages: readonly ModelMessage[], message: string): ModelMessage[] {
  const open = findOpenCalls(messages);
  if (open.length === 0) return [...messages, { role: "user", content: message }];
  const matched = matchResults(open, message);
  if ("fault" in matched) throw new ModelFailure("adapter_error", matched.fault);
  const withResults = [...messages, createResultsMessage(matched)];
  return matched.rest === "" ? withResults : [...withResults, { role: "user", content: matched.rest }];
}

const createResultsMessage = ({ results }: MatchedResults): ToolModelMessage => ({
  role: "tool",
  content: results.map(([{ toolCallId, toolName }, result]) => ({
    type: "tool-result",
    toolCallId,
    toolName,
    output: { type: "text", value: formatResult(result) },
  })),
});
