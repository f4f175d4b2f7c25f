import { lookup } from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Agent, fetch, WebSocket as UndiciWebSocket } from "undici";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { openGatewaySocket } from "../../adapters/openclaw/gateway-socket.ts";
import { limitResponseOverhead } from "../../src/network/limit-response-overhead.ts";
import { classifyFailure } from "../../src/posts/failure.ts";
import { startReceiver, startTcpServer } from "../support/start-receiver.ts";

beforeEach(() => {
  onTestFinished(limitResponseOverhead());
});

/** A server that responds with a start, and then endlessly as fast as the client reads. */
async function flood(beginning: string, more: string) {
  let sent = 0;
  const server = await startTcpServer((socket) => {
    socket.once("data", () => {
      socket.write(beginning);
      const go = (): void => {
        while (!socket.destroyed) {
          sent += more.length;
          if (!socket.write(more)) return;
        }
      };
      socket.on("drain", go);
      go();
    });
  });
  onTestFinished(server.close);
  return { url: `http://127.0.0.1:${server.port}`, port: server.port, sent: () => sent };
}

function createAgent(): Agent {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  onTestFinished(() => agent.destroy());
  return agent;
}

const hint = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n";
const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
/** Bytes that the buffers of both sockets may hold in addition to the bytes that are read. */
const SOCKET_BUFFERS_BYTES = 24 * 1024 * 1024;

describe("a response without end is aborted:", () => {
  test.each<[what: string, beginning: string, more: string]>([
    ["informational answers", "", hint.repeat(500)],
    ["blank lines before the answer", "", "\r\n".repeat(8000)],
    ["headers", "HTTP/1.1 200 OK\r\n", "a: b\r\n".repeat(2000)],
    ["a chunk extension", `${chunked}1;`, "a=b;".repeat(4000)],
    ["a chunk extension after content", `${chunked}5\r\nhello\r\n1;`, "a=b;".repeat(4000)],
    ["trailers", `${chunked}0\r\n`, "a: b\r\n".repeat(2000)],
  ])("%s", async (_, beginning, more) => {
    const { url, sent } = await flood(beginning, more);
    const answered = createAgent()
      .request({ origin: url, path: "/", method: "POST", body: "{}" })
      .then(({ body }) => body.text());
    const error = await answered.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(classifyFailure(error)).toBe("invalid_response");
    expect(sent()).toBeLessThan(SOCKET_BUFFERS_BYTES);
  });

  test("a response without end is aborted: for fetch of undici, with the reason", async () => {
    const { url } = await flood("", hint.repeat(500));
    await expect(fetch(url, { dispatcher: createAgent() })).rejects.toMatchObject({ cause: { code: "BRIDGE_ANSWER_TOO_LONG" } });
  });

  test("a response without end is aborted: for the global fetch, which third-party code may use", async () => {
    const { url } = await flood("", hint.repeat(500));
    await expect(globalThis.fetch(url)).rejects.toMatchObject({ cause: { code: "BRIDGE_ANSWER_TOO_LONG" } });
  });

  test("a response without end is aborted: for the handshake of a WebSocket", async () => {
    const { port } = await flood("", hint.repeat(500));
    const opened = openGatewaySocket(
      { url: `ws://127.0.0.1:${port}`, token: undefined, lookup },
      { onEvent: () => {}, signal: new AbortController().signal },
    );
    await expect(opened).rejects.toThrow("too many bytes outside of its content");
  });

  test("after 32 informational responses, and not before", async () => {
    for (const [count, status] of [
      [32, 204],
      [33, null],
    ] as const) {
      const server = await startTcpServer((socket) =>
        socket.once("data", () => socket.write(`${hint.repeat(count)}HTTP/1.1 204 OK\r\n\r\n`)),
      );
      onTestFinished(server.close);
      const answer = createAgent().request({ origin: `http://127.0.0.1:${server.port}`, path: "/", method: "POST", body: "{}" });
      expect(
        await answer.then(
          ({ statusCode }) => statusCode,
          () => null,
        ),
      ).toBe(status);
    }
  });

  test("a response without end is aborted: between two requests of a connection", async () => {
    let flooded: Socket | undefined;
    const server = await startTcpServer((socket) => {
      flooded = socket;
      socket.once("data", () => {
        socket.write("HTTP/1.1 204 OK\r\nkeep-alive: timeout=600\r\n\r\n");
        const go = (): void => {
          while (!socket.destroyed && socket.write("\r\n".repeat(8000)));
        };
        socket.on("drain", go);
        go();
      });
    });
    onTestFinished(server.close);
    const agent = new Agent({ keepAliveTimeout: 600_000 });
    onTestFinished(() => agent.destroy());
    await agent.request({ origin: `http://127.0.0.1:${server.port}`, path: "/", method: "POST", body: "{}" });
    await expect.poll(() => flooded?.destroyed).toBe(true);
  });
});

describe("a response is not aborted", () => {
  test("a response is not aborted for any length of its content", async () => {
    const content = "x".repeat(8 * 1024 * 1024);
    const receiver = await startReceiver((response) => response.end(content));
    onTestFinished(receiver.close);
    expect((await (await fetch(receiver.origin, { dispatcher: createAgent() })).text()).length).toBe(content.length);
  });

  test("if its content arrives in chunks of one byte", async () => {
    const server = await startTcpServer((socket) =>
      socket.once("data", () => socket.end(`${chunked}${"1\r\nx\r\n".repeat(500_000)}0\r\n\r\n`)),
    );
    onTestFinished(server.close);
    expect((await (await fetch(`http://127.0.0.1:${server.port}`, { dispatcher: createAgent() })).text()).length).toBe(500_000);
  });

  test("if its reader reads late", async () => {
    const content = "x".repeat(8 * 1024 * 1024);
    const receiver = await startReceiver((response) => response.end(content));
    onTestFinished(receiver.close);
    const { body } = await createAgent().request({ origin: receiver.origin, path: "/", method: "POST", body: "{}" });
    let read = 0;
    for await (const chunk of body) {
      read += (chunk as Buffer).length;
      await new Promise(setImmediate);
    }
    expect(read).toBe(content.length);
  });

  test("on a connection that has carried many responses", async () => {
    const receiver = await startReceiver((response) => response.end("x".repeat(60_000)));
    onTestFinished(receiver.close);
    const agent = new Agent({ connections: 1 });
    onTestFinished(() => agent.destroy());
    for (let count = 0; count < 60; count += 1)
      await (await fetch(receiver.origin, { dispatcher: agent, method: "POST", body: "{}" })).text();
    expect(receiver.connections()).toBe(1);
  });
});

describe("a connection that becomes a WebSocket", () => {
  test("a connection that becomes a WebSocket gets its messages, also after a response on the same connection", async () => {
    const server = createServer((_, response) => response.end("ok"));
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket) => socket.on("message", (text) => socket.send(String(text))));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      sockets.close();
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const dispatcher = new Agent({ connections: 1 });
    onTestFinished(() => dispatcher.destroy());
    expect(await (await fetch(`http://127.0.0.1:${port}/`, { dispatcher })).text()).toBe("ok");
    const client = new UndiciWebSocket(`ws://127.0.0.1:${port}/`, { dispatcher });
    onTestFinished(() => client.close());
    await once(client, "open");
    client.send("hello");
    const [message] = (await once(client, "message")) as [MessageEvent];
    expect(message.data).toBe("hello");
  });
});
