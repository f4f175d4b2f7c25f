import type { ServerResponse } from "node:http";
import { beginStream, openEndpoint, type Received, sendChunk } from "./raw-endpoint.ts";

/** One tool call of the model. */
export interface ScriptedCall {
  id: string;
  name: string;
  /** A string is sent unchanged. */
  input?: Record<string, unknown> | string;
}

/** A model that makes all these calls in its first answer, and then answers every request with the same text. */
export function openToolEndpoint(calls: readonly ScriptedCall[], say = ""): ReturnType<typeof openEndpoint> {
  let asked = 0;
  return openEndpoint(({ response }) => {
    asked += 1;
    if (asked > 1) sendText(response, "Done.");
    else sendCalls(response, calls, say);
  });
}

/** Answers a request to the model with a text. */
export function sendText(response: ServerResponse, text: string): void {
  beginStream(response);
  sendChunk(response, { content: text });
  sendChunk(response, {}, "stop");
  response.end("data: [DONE]\n\n");
}

/** Answers a request to the model with calls of tools. */
export function sendCalls(response: ServerResponse, calls: readonly ScriptedCall[], say = ""): void {
  beginStream(response);
  if (say !== "") sendChunk(response, { content: say });
  for (const [index, { id, name, input = {} }] of calls.entries())
    sendChunk(response, {
      tool_calls: [
        { index, id, type: "function", function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input) } },
      ],
    });
  sendChunk(response, {}, calls.length > 0 ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}

/** The tool results in a request to the model, by the ids of their calls. */
export function receivedResults({ body }: Received): Record<string, string> {
  const messages = body["messages"] as { role: string; tool_call_id: string; content: string }[];
  return Object.fromEntries(messages.filter(({ role }) => role === "tool").map((message) => [message.tool_call_id, message.content]));
}

/** The names of the tools that a request offers. */
export const offeredTools = ({ body }: Received): string[] =>
  ((body["tools"] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
