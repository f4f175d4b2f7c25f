import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { beginStream, openEndpoint, type Received } from "./raw-endpoint.ts";
import { openToolEndpoint, receivedResults } from "./tool-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

/** The responses of a server with one tool before its first call. */
const results: Readonly<Record<string, unknown>> = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "far", version: "1" } },
  "tools/list": { tools: [{ name: "locate", inputSchema: { type: "object" } }] },
};
const messageOf = ({ body }: Received): string => {
  const result = results[String(body["method"])];
  const answer = result === undefined ? { error: { code: -32601, message: "unknown method" } } : { result };
  return JSON.stringify({ jsonrpc: "2.0", id: body["id"], ...answer });
};
const isCall = ({ body }: Received): boolean => body["method"] === "tools/call";

/** A server over streamable HTTP; the test answers its tool calls. */
const openHttpServer = (answerCall: (request: Received) => void) =>
  openEndpoint((request) => {
    const { body, response } = request;
    if (body["id"] === undefined) return void response.writeHead(body["method"] === undefined ? 405 : 202).end();
    if (isCall(request)) return answerCall(request);
    response.writeHead(200, { "content-type": "application/json" }).end(messageOf(request));
  });

/** A server over the older transport, HTTP with events; the test answers its tool calls. */
async function openSseServer(answerCall: (request: Received, stream: ServerResponse) => void) {
  let stream: ServerResponse | undefined;
  return await openEndpoint((request) => {
    const { body, response } = request;
    if (body["method"] === undefined) {
      stream = beginStream(response);
      return void stream.write("event: endpoint\ndata: /messages\n\n");
    }
    response.writeHead(202).end("Accepted");
    if (isCall(request)) answerCall(request, stream as ServerResponse);
    else if (body["id"] !== undefined) stream?.write(`data: ${messageOf(request)}\n\n`);
  });
}

async function callTool(url: string, transport: "http" | "sse", times = 1) {
  const calls = Array.from({ length: times }, (_, index) => ({ id: `c${index}`, name: "mcp__far__locate" }));
  const model = await openToolEndpoint(calls);
  const fixture = await openVercelFixture({ baseUrl: model.url }, { fetch });
  const { result } = await fixture.run({ mcpServers: [{ name: "far", transport, url }] });
  return { result, results: () => receivedResults(model.requests[1] as Received) };
}

const ended = 'The answer of the MCP server "far" ended without a result';
const json = { "content-type": "application/json" };

describe("a call whose answer ends without a result fails at once, with the name of its server", () => {
  test.each<[string, (request: Received) => void]>([
    ["no event", ({ response }) => void beginStream(response).end()],
    ["a note and no result", ({ response }) => void beginStream(response).end('data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n')],
    ["half an event", ({ response }) => void beginStream(response).end('data: {"jsonrpc":"2.0",')],
    [
      "a connection that breaks",
      ({ response }) => void beginStream(response).write('data: {"jsonrpc":"2.0",', () => void response.destroy()),
    ],
    ["a receipt", ({ response }) => void response.writeHead(202).end("Accepted")],
    ["no message", ({ response }) => void response.writeHead(200, json).end("[]")],
    ["another message", ({ response }) => void response.writeHead(200, json).end('{"jsonrpc":"2.0","method":"notifications/x"}')],
  ])("a call whose answer ends without a result fails at once, with the name of its server over http: %s", async (_, answer) => {
    const { result, results } = await callTool((await openHttpServer(answer)).url, "http");
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(results()).toEqual({ c0: expect.stringContaining(ended) });
  });

  test.each<[string, (stream: ServerResponse) => void]>([
    ["the stream ends", (stream) => void stream.end()],
    ["the stream breaks", (stream) => void stream.destroy()],
  ])("a call whose answer ends without a result fails at once, with the name of its server over sse: %s", async (_, end) => {
    const { result, results } = await callTool((await openSseServer((__, stream) => end(stream))).url, "sse");
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(results()).toEqual({ c0: expect.stringContaining(ended) });
  });
});

test("an answer over the size limit fails with that reason", async () => {
  const far = await openHttpServer(({ response }) => {
    beginStream(response);
    const more = (): void => {
      while (!response.destroyed && response.write(`: ${"x".repeat(1024 ** 2)}\n`));
      response.once("drain", more);
    };
    more();
  });
  const { results } = await callTool(far.url, "http");
  expect(results()).toEqual({ c0: expect.stringMatching(/ended without a result: The answer has more than \d+ MiB/) });
});

test("a received result counts, and the bodies of a server's POST responses are ignored", async () => {
  // With the stream, almost the maximum of concurrent requests: the responses of the start must no longer count.
  const calls = 97;
  const far = await openSseServer(({ body }, stream) => {
    const sendResults = () =>
      stream.write(
        `data: ${JSON.stringify({ jsonrpc: "2.0", id: body["id"], result: { content: [{ type: "text", text: "far away" }] } })}\n\n`,
      );
    sendResults();
  });
  const { result, results } = await callTool(far.url, "sse", calls);
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(Object.values(results())).toEqual(Array.from({ length: calls }, () => "far away"));
});

test("over http with events, a received result counts", async () => {
  const far = await openHttpServer(({ body, response }) => {
    const message = { jsonrpc: "2.0", id: body["id"], result: { content: [{ type: "text", text: "far away" }] } };
    beginStream(response).end(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  });
  const { results } = await callTool(far.url, "http");
  expect(results()).toEqual({ c0: "far away" });
});
