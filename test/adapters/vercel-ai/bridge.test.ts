import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { startBridgeApp } from "../../support/bridge-app.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { beginStream, openEndpoint, sendChunk } from "../shared/model-api/raw-endpoint.ts";

const tools = [{ type: "function", function: { name: "ask_user", description: "Asks.", parameters: { type: "object" } } }];
const outputSchema = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

test("through Bridge, a task with a declared tool and a schema returns the call and then structured output", async () => {
  const { url, requests } = await openEndpoint(({ body, response }) => {
    if (body["messages"] === undefined) return void response.writeHead(200).end("{}");
    beginStream(response);
    if ((body["messages"] as { role: string }[]).some(({ role }) => role === "tool")) {
      sendChunk(response, { content: 'So: {"answer": "green"}' });
      sendChunk(response, {}, "stop");
    } else {
      sendChunk(response, { content: "I must ask." });
      sendChunk(response, {
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "ask_user", arguments: '{"q":"Which?"}' } }],
      });
      sendChunk(response, {}, "tool_calls");
    }
    response.end("data: [DONE]\n\n");
  });
  const root = await temporaryDirectory();
  await writeFile(path.join(root, "key"), "key-from-a-file\n");
  const bridge = await startBridgeApp(root, {
    BRIDGE_ADAPTERS: "vercel-ai",
    BRIDGE_VERCEL_AI_BASE_URL: url,
    BRIDGE_VERCEL_AI_API_KEY_FILE: path.join(root, "key"),
    BRIDGE_VERCEL_AI_MODEL: "raw",
  });
  const dispatch = async (fields: object): Promise<{ state: string; result: Record<string, unknown> }> => {
    const body = { agentId: "a", provider: "vercel-ai", tools, outputSchema, ...fields };
    const answer = await bridge.call("POST", "/api/v2/dispatch", body, { prefer: "wait=20" });
    return (await answer.json()) as { state: string; result: Record<string, unknown> };
  };

  const first = await dispatch({ message: "Which colour?" });
  const call = { toolCallId: "call_1", toolName: "ask_user", input: { q: "Which?" } };
  expect(first).toMatchObject({ state: "completed", result: { status: "ok", outputs: { toolCalls: [call] } } });
  expect(first.result["conversationMessages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", content: "I must ask.", toolCalls: [call] },
  ]);

  const { resumeToken } = first.result;
  const second = await dispatch({ message: '{"call_1": "green"}', resumeToken });
  expect(second).toMatchObject({ state: "completed", result: { status: "ok", outputs: { answer: "green" }, resumeToken } });
  expect(((requests.at(-1)?.body["messages"] ?? []) as { role: string }[]).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "user",
  ]);
  expect(requests.at(-1)?.headers.authorization).toBe("Bearer key-from-a-file");

  const unknown = await dispatch({ message: "Go on.", resumeToken: "conversation-nobodys" });
  expect(unknown).toMatchObject({ code: "resume_unknown" });
});

test("the requests to the model contain nothing of the trace of the task", async () => {
  const { url, requests } = await openEndpoint(({ body, response }) => {
    if (body["messages"] === undefined) return void response.writeHead(200).end("{}");
    beginStream(response);
    sendChunk(response, { content: "Hello." });
    sendChunk(response, {}, "stop");
    response.end("data: [DONE]\n\n");
  });
  const bridge = await startBridgeApp(await temporaryDirectory(), {
    BRIDGE_ADAPTERS: "vercel-ai",
    BRIDGE_VERCEL_AI_BASE_URL: url,
    BRIDGE_VERCEL_AI_MODEL: "raw",
  });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const trace = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: "congo=2" };
  const answer = await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", message: "Hi." }, { ...trace, prefer: "wait=20" });
  expect(await answer.json()).toMatchObject({ state: "completed", result: { output: "Hello." } });
  expect(requests.some(({ body }) => body["messages"] !== undefined)).toBe(true);
  expect(JSON.stringify(requests.map(({ headers, body }) => [headers, body]))).not.toContain(traceId);
});
