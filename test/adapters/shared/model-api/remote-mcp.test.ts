import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createDestinationGuard } from "../../../../src/network/destination-guard.ts";
import { createGuardedFetch } from "../../../../src/network/guarded-fetch.ts";
import { beginStream, openEndpoint, type Received } from "./raw-endpoint.ts";
import { openToolEndpoint, receivedResults } from "./tool-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

/** Bridge's fetch, configured to permit these addresses. */
function guardedFetch(allow: readonly string[]) {
  const guarded = createGuardedFetch(createDestinationGuard({ allow }));
  onTestFinished(() => guarded.close());
  return guarded.fetch;
}

/** A server over streamable HTTP with one tool, `locate`; `answer` can override a response. */
const openServer = (otherwise: (request: Received) => boolean = () => false) =>
  openEndpoint((request) => {
    if (otherwise(request)) return;
    const { body, headers, response } = request;
    const { id, method, params } = body as { id?: number; method?: string; params?: { protocolVersion: string } };
    if (id === undefined) return void response.writeHead(method === undefined ? 405 : 202).end();
    const results: Record<string, unknown> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "far", version: "1" } },
      "tools/list": { tools: [{ name: "locate", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: `far away, ${headers.authorization}` }] },
    };
    const result = results[method ?? ""];
    const answer = result === undefined ? { error: { code: -32601, message: "unknown method" } } : { result };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
const spec = (url: string, transport: "http" | "sse" = "http") => ({
  name: "far",
  transport,
  url,
  headers: { authorization: "Bearer my-own-token" },
});

test("a permitted server is called with its headers", async () => {
  const [model, far] = [await openToolEndpoint([{ id: "c1", name: "mcp__far__locate" }]), await openServer()];
  const fixture = await openVercelFixture({ baseUrl: model.url }, { fetch: guardedFetch(["127.0.0.1"]) });
  const { result } = await fixture.run({ mcpServers: [spec(far.url)] });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(receivedResults(model.requests[1] as Received)).toEqual({ c1: "far away, Bearer my-own-token" });
});

test.each(["http", "sse"] as const)("over %s Bridge never connects to an address that is not permitted", async (transport) => {
  const [model, far] = [await openToolEndpoint([]), await openServer()];
  const fixture = await openVercelFixture({ baseUrl: model.url }, { fetch: guardedFetch([]) });
  const { result } = await fixture.run({ mcpServers: [spec(far.url, transport)] });
  expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringMatching(/"far".*not permitted/) });
  expect([far.requests, model.requests]).toEqual([[], []]);
});

describe("a broken server fails the task with its name and without its headers", () => {
  const big = "x".repeat(1024 ** 2);
  test.each<[string, (request: Received) => unknown]>([
    ["redirects to another server", ({ response }) => void response.writeHead(307, { location: "http://127.0.0.1:9/" }).end()],
    ["refuses", ({ response, headers }) => void response.writeHead(401).end(`no: ${headers.authorization}`)],
    ["is not an MCP server", ({ response }) => void response.writeHead(200, { "content-type": "text/html" }).end("<html></html>")],
    ["closes the connection", ({ response }) => void response.destroy()],
    [
      "never ends its response",
      ({ response }) => {
        response.writeHead(200, { "content-type": "application/json" });
        const more = (): void => {
          while (!response.destroyed && response.write(big));
          response.once("drain", more);
        };
        more();
      },
    ],
  ])("%s", async (_, answer) => {
    const far = await openEndpoint(answer as (request: Received) => void);
    const fixture = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" }, { fetch: guardedFetch(["127.0.0.1"]) });
    const { result } = await fixture.run({ mcpServers: [spec(`${far.url}/?key=in-the-url`)] });
    expect(result).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining('The MCP server "far" cannot be used'),
    });
    expect(result.error).not.toMatch(/my-own-token|in-the-url/);
  });

  test("a server that does not answer: the task can be canceled", async () => {
    const far = await openEndpoint(() => {});
    const fixture = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" }, { fetch: guardedFetch(["127.0.0.1"]) });
    const { request, result } = await fixture.start({ mcpServers: [spec(far.url)] });
    while (far.requests.length === 0) await new Promise(setImmediate);
    await fixture.adapter.cancel(request.taskId);
    expect(await result).toMatchObject({ status: "error", errorCode: "cancelled" });
  });
});

test("a server that sends endless requests gets a limited number of concurrent answers", async () => {
  const questions = Array.from({ length: 5_000 }, (_, id) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, method: "roots/list" })}\n\n`);
  let open = 0;
  const far = await openServer(({ body, response }) => {
    // Responses are read and never acknowledged.
    if (!("method" in body) && "id" in body) open += 1;
    else if (body["method"] === "tools/list") beginStream(response).write(questions.join(""));
    else return false;
    return true;
  });
  const fixture = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" }, { fetch: guardedFetch(["127.0.0.1"]) });
  const { request, result } = await fixture.start({ mcpServers: [spec(far.url)] });
  await vi.waitFor(() => expect(open).toBeGreaterThan(50), 10_000);
  await fixture.adapter.cancel(request.taskId);
  expect(await result).toMatchObject({ status: "error", errorCode: "cancelled" });
  expect(open).toBeLessThanOrEqual(100);
});

/** A server with one tool, whose schema has these properties and whose description has this length. */
const openListServer = ({ properties = 0, length = 0, pages = 1 }) =>
  openServer(({ body, response }) => {
    if (body["method"] !== "tools/list") return false;
    const page = Number((body["params"] as { cursor?: string } | undefined)?.cursor ?? "0") + 1;
    const schema = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: properties }, (_, index) => [`p${index}`, true])),
    };
    const tools = [{ name: `tool-${page}`, description: "x".repeat(length), inputSchema: schema }];
    const result = { tools, ...(page < pages && { nextCursor: String(page) }) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: body["id"], result }));
    return true;
  });

test.each([
  ["a list of tools with too many JSON values", [{ properties: 50_000 }], "The answer has more than 32 MiB or 50000 JSON values."],
  ["pages that are too long together", [{ length: 1_000_000, pages: 10 }], "more than 8 MiB or 200000 JSON values"],
  ["lists of several servers that are too long together", [{ length: 5_000_000 }, { length: 5_000_000 }], "more than 8 MiB or 200000"],
  ["lists with too many JSON values together", Array.from({ length: 5 }, () => ({ properties: 45_000 })), "more than 8 MiB or 200000"],
])("%s fail the task before they are parsed", async (_, lists, message) => {
  const servers = await Promise.all(lists.map(openListServer));
  const fixture = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" }, { fetch: guardedFetch(["127.0.0.1"]) });
  const { result } = await fixture.run({ mcpServers: servers.map(({ url }, index) => ({ ...spec(url), name: `far-${index}` })) });
  expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining(message) });
});

test("error messages of failed calls count toward the limit of tool results", async () => {
  const far = await openServer(({ body, response }) => {
    if (body["method"] !== "tools/call") return false;
    // Six bytes each as JSON, so that the messages exceed the limit of results before the bodies exceed the limit of answers.
    response.writeHead(500).end("\u0001".repeat(3 * 1024 ** 2));
    return true;
  });
  const calls = ["c1", "c2"].map((id) => ({ id, name: "mcp__far__locate" }));
  const model = await openToolEndpoint(calls);
  const fixture = await openVercelFixture({ baseUrl: model.url }, { fetch: guardedFetch(["127.0.0.1"]) });
  const { result } = await fixture.run({ mcpServers: [spec(far.url)] });
  expect(result).toMatchObject({ status: "error", errorCode: "output_limit" });
});

test("a result with only structured content is passed to the model", async () => {
  const far = await openServer(({ body, response }) => {
    if (body["method"] !== "tools/call") return false;
    const result = { content: [], structuredContent: { found: [4711] } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: body["id"], result }));
    return true;
  });
  const model = await openToolEndpoint([{ id: "c1", name: "mcp__far__locate" }]);
  const fixture = await openVercelFixture({ baseUrl: model.url }, { fetch: guardedFetch(["127.0.0.1"]) });
  const { result } = await fixture.run({ mcpServers: [spec(far.url)] });
  expect(result).toMatchObject({ status: "ok" });
  expect(receivedResults(model.requests[1] as Received)).toEqual({ c1: '{"found":[4711]}' });
  const { resumeToken = "" } = result;
  expect((await fixture.run({ resumeToken })).result).toMatchObject({ status: "ok" });
});
