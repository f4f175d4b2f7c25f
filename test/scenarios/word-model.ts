import path from "node:path";
import { beginStream, openEndpoint, sendChunk } from "../adapters/shared/model-api/raw-endpoint.ts";

const words = path.join(import.meta.dirname, "../fixtures/programs/words-mcp-server.js");

/** The server whose tool the word model calls. */
export const wordServers = [{ name: "words", transport: "stdio", command: process.execPath, args: [words] }];

/** Starts a model that calls a tool as often as the message states, such as `3 words`. With these settings, each call costs 10 cents. */
export async function startWordModel() {
  const { url, requests } = await openEndpoint(({ body, response }) => {
    const messages = body["messages"] as { role: string; content: string }[] | undefined;
    if (messages === undefined) return void response.writeHead(200).end("{}");
    const wanted = Number(/([0-9]+) words/.exec(JSON.stringify(messages.find(({ role }) => role === "user")?.content))?.[1]);
    const called = messages.filter(({ role }) => role === "tool").length;
    beginStream(response);
    if (called < wanted) {
      const call = { index: 0, id: `call_${called}`, type: "function", function: { name: "mcp__words__look", arguments: "{}" } };
      sendChunk(response, { tool_calls: [call] });
      sendChunk(response, {}, "tool_calls");
    } else {
      sendChunk(response, { content: "Done." });
      sendChunk(response, {}, "stop");
    }
    const usage = { prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 };
    response.write(
      `data: ${JSON.stringify({ id: "c1", created: 1, model: "raw", object: "chat.completion.chunk", choices: [], usage })}\n\n`,
    );
    response.end("data: [DONE]\n\n");
  });
  const settings = {
    ...{ BRIDGE_VERCEL_AI_BASE_URL: url, BRIDGE_VERCEL_AI_MODEL: "raw", BRIDGE_MCP_COMMANDS: process.execPath },
    BRIDGE_MODEL_PRICES: JSON.stringify({ raw: { input: 1000, output: 0 } }),
  };
  return { settings, calls: () => requests.filter(({ body }) => "messages" in body) };
}
