import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { openEndpoint, type Received } from "../adapters/shared/model-api/raw-endpoint.ts";
import { sendCalls, sendText } from "../adapters/shared/model-api/tool-endpoint.ts";
import { dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const MIB = 1024 ** 2;
const TASKS = 4;
const CALLS = 3;
const ANSWER_BYTES = 30 * MIB;

test("large answers of MCP servers to many calls of several tasks cannot exhaust the memory of Bridge", async () => {
  const far = await openLargeServer();
  const calls = Array.from({ length: CALLS }, (_, index) => ({ id: `call-${index}`, name: "mcp__far__read" }));
  // No task ends before the model has the results of all tasks, so Bridge holds them together.
  const answered: (() => void)[] = [];
  const model = await openEndpoint(({ body, response }) => {
    if (resultsIn(body).length === 0) return sendCalls(response, calls);
    answered.push(() => sendText(response, "Done."));
    if (answered.length === TASKS) for (const answer of answered) answer();
  });
  const bridge = await startBridgeProgram(await temporaryDirectory(), {
    BRIDGE_ADAPTERS: "vercel-ai",
    BRIDGE_VERCEL_AI_BASE_URL: model.url,
    BRIDGE_VERCEL_AI_MODEL: "any",
    BRIDGE_MAX_CONCURRENT: String(TASKS),
    NODE_OPTIONS: "--max-old-space-size=512",
  });
  const mcpServers = [{ name: "far", transport: "http", url: far.url }];
  const taskIds = Array.from({ length: TASKS }, (_, index) => `task-${index}`);
  for (const taskId of taskIds)
    expect((await dispatchTask(bridge, { taskId, agentId: "a", message: "go", profile: "modify", mcpServers })).status).toBe(202);
  for (const taskId of taskIds)
    expect(await taskInState(bridge, taskId, "completed", 50_000)).toMatchObject({ result: { output: "Done." } });

  const results = model.requests.map(({ body }) => resultsIn(body)).filter(({ length }) => length > 0);
  expect(results.map(({ length }) => length)).toEqual(taskIds.map(() => CALLS));
  const [whole, others] = [results.flat().filter(isWhole), results.flat().filter((text) => !isWhole(text))];
  expect(whole.length).toBeGreaterThan(0);
  expect(whole.length).toBeLessThanOrEqual(2);
  for (const text of others) expect(text).toMatch(/answers of (all )?MCP servers in .* Ask for less/);
});

/** The character at the end makes V8 keep the whole text in two bytes for each character. */
const isWhole = (text: string): boolean => text.length > ANSWER_BYTES && text.endsWith("😀");

const resultsIn = (body: Received["body"]): string[] =>
  ((body["messages"] ?? []) as { role: string; content: string }[]).flatMap(({ role, content }) => (role === "tool" ? [content] : []));

/** A server over streamable HTTP, each of whose calls returns 30 MiB. */
const openLargeServer = () =>
  openEndpoint(async ({ body, response }) => {
    const { id, method, params } = body as { id?: number; method?: string; params?: { protocolVersion: string } };
    if (id === undefined) return void response.writeHead(method === undefined ? 405 : 202).end();
    const results: Record<string, unknown> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "far", version: "1" } },
      "tools/list": { tools: [{ name: "read", inputSchema: { type: "object" } }] },
    };
    response.writeHead(200, { "content-type": "application/json" });
    if (method === "tools/call") return sendLargeAnswer(response, id);
    const result = results[method ?? ""];
    const answer = result === undefined ? { error: { code: -32601, message: "unknown method" } } : { result };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });

async function sendLargeAnswer(response: ServerResponse, id: number): Promise<void> {
  const closed = once(response, "close");
  const piece = Buffer.alloc(MIB, "x");
  response.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
  for (let sent = 0; sent < ANSWER_BYTES && !response.destroyed; sent += piece.length)
    if (!response.write(piece)) await Promise.race([once(response, "drain").catch(() => {}), closed]);
  response.end('😀"}]}}');
}
