import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import type { McpServerSpec, NormalizedTool } from "#contract";
import { openToolServer, type ServedTools, type ToolServer } from "../../../../adapters/shared/declared-tools/tool-server.ts";
import { RELAY_VARIABLES } from "../../../../adapters/shared/declared-tools/tool-server-spec.ts";
import { connectToServer } from "./connect-to-server.ts";

const ask: NormalizedTool = {
  name: "ask user?",
  description: "Asks the user.",
  inputSchema: { properties: { question: { type: "string" } }, required: ["question"] },
};

async function open(call: ServedTools["call"] = async () => ({ text: "answered", isError: false })) {
  const server = await openToolServer({ tools: new Map([["ask_user_", ask]]), call });
  onTestFinished(() => server.close());
  return server;
}
const httpSpec = ({ url, secret }: ToolServer): McpServerSpec => ({
  name: "bridge",
  transport: "http",
  url,
  headers: { Authorization: `Bearer ${secret}` },
});
const relaySpec = ({ url, secret }: ToolServer): McpServerSpec => ({
  name: "bridge",
  transport: "stdio",
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, "../../../../adapters/shared/declared-tools/stdio-relay.ts")],
  env: { [RELAY_VARIABLES.url]: url, [RELAY_VARIABLES.secret]: secret },
});
const isListening = async (url: string): Promise<boolean> => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const isOpen = await Promise.race([once(socket, "connect").then(() => true), once(socket, "error").then(() => false)]).catch(() => false);
  socket.destroy();
  return isOpen;
};

describe.each([
  ["over HTTP", httpSpec],
  ["through the relay", relaySpec],
])("%s", (_, specOf) => {
  test("the tools are listed with their schemas, and calls have the names of the dispatch", async () => {
    const calls: unknown[] = [];
    const server = await open(async (...call) => {
      calls.push(call);
      return { text: "Later.", isError: false };
    });
    const client = await connectToServer(specOf(server));
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools).toEqual([
      {
        name: "ask_user_",
        description: "Asks the user.",
        inputSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
        annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
      },
    ]);
    expect(await client.callTool({ name: "ask_user_", arguments: { question: "Which?" } })).toMatchObject({
      content: [{ type: "text", text: "Later." }],
      isError: false,
    });
    expect(await client.callTool({ name: "nothing" })).toMatchObject({ isError: true });
    expect(calls).toEqual([["ask user?", { question: "Which?" }]]);
  });

  test("several calls can wait at the same time", async () => {
    const waiting: (() => void)[] = [];
    const server = await open(() => new Promise((resolve) => waiting.push(() => resolve({ text: `${waiting.length}`, isError: false }))));
    const client = await connectToServer(specOf(server));
    onTestFinished(() => client.close());
    const calls = [1, 2, 3].map(() => client.callTool({ name: "ask_user_", arguments: {} }));
    await expect.poll(() => waiting.length).toBe(3);
    for (const settle of waiting) settle();
    expect(await Promise.all(calls)).toHaveLength(3);
  });
});

test.each([{}, { authorization: "Bearer wrong" }, { authorization: "Basic x" }])(
  "a request without the secret is rejected with 401: %j",
  async (headers) => {
    const { url } = await open();
    const response = await fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: "{}" });
    expect([response.status, await response.text()]).toEqual([401, ""]);
  },
);

test("each server has its own secret", async () => {
  const [one, other] = [await open(), await open()];
  await expect(connectToServer(httpSpec({ ...one, secret: other.secret }))).rejects.toThrow();
});

test("the server opens no streams and rejects requests over 4 MiB", async () => {
  const { url, secret } = await open();
  const headers = { authorization: `Bearer ${secret}`, accept: "application/json, text/event-stream", "content-type": "application/json" };
  expect((await fetch(url, { headers })).status).toBe(405);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "ask_user_", arguments: { text: "x".repeat(5 * 1024 ** 2) } },
  });
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(413);
});

test("closing the server frees the port, also while a call waits", async () => {
  const server = await open(() => new Promise(() => {}));
  const client = await connectToServer(httpSpec(server));
  const call = client.callTool({ name: "ask_user_", arguments: {} });
  call.catch(() => {});
  expect(await isListening(server.url)).toBe(true);
  await server.close();
  expect(await isListening(server.url)).toBe(false);
  await expect(call).rejects.toThrow();
});

test("a program that closes its sending side after a call receives the answer", async () => {
  const ended = Promise.withResolvers<void>();
  const server = await open(async () => {
    await ended.promise;
    return { text: "Later.", isError: false };
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ask_user_", arguments: {} } });
  const socket = connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const headers = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${server.secret}`,
    "Accept: application/json, text/event-stream",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  socket.end(`${headers.join("\r\n")}\r\n\r\n${body}`);
  await once(socket, "finish");
  // An answer to a later request means that the end of the first one has arrived.
  expect((await fetch(server.url)).status).toBe(401);
  ended.resolve();
  expect(await text(socket)).toContain("Later.");
});
