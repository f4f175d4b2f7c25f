import { readFileSync } from "node:fs";
import path from "node:path";
import { type BridgeSocket, connectBridge } from "bridge-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { answer, push, type Script, startScriptedSocketServer } from "./scripted-socket-server.ts";

const page = readFileSync(path.resolve(import.meta.dirname, "../../../docs/websocket.md"), "utf8");
/** The close codes of the table in docs/websocket.md. */
const documentedCodes = [...page.matchAll(/^\| ((?:\d{4}(?:, )?)+) \|/gm)].flatMap(([, codes = ""]) => codes.split(", ").map(Number));
/** Codes after which a new connection would be closed in the same way. */
const violations = [1002, 1007, 1008];

async function connect(url: string, options: { silenceMs?: number; patienceMs?: number } = {}): Promise<BridgeSocket> {
  const client = await connectBridge({ url, token: "secret", retryDelayMs: 5, patienceMs: 5000, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function follow(client: BridgeSocket, runId = "t"): Promise<{ seen: string[]; error: unknown }> {
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { id } of client.follow(runId)) seen.push(id);
  };
  const error = await read().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { seen, error };
}

/** Follows a run: pushes one event, then closes the connection. */
const closeAfterEvent =
  (close: (socket: Parameters<Script>[1]) => void): Script =>
  (frame, socket) => {
    answer(socket, frame, { runId: "t", following: true });
    push(socket, "t", 1);
    close(socket);
  };
const complete: Script = (frame, socket) => {
  answer(socket, frame, { runId: "t", following: true });
  push(socket, "t", 2, "execution.completed");
};

test("docs/websocket.md documents the close codes", () => {
  expect(documentedCodes).toEqual([1001, ...violations, 1009, 1013, 4401, 4503]);
});

test.each(documentedCodes.filter((code) => !violations.includes(code)))(
  "after the close code %i, a followed run continues on a new connection, with a new ticket, after the last event",
  async (code) => {
    const server = await startScriptedSocketServer([closeAfterEvent((socket) => socket.close(code, "a reason")), complete]);
    expect(await follow(await connect(server.url))).toEqual({ seen: ["e-1", "e-2"], error: undefined });
    expect(server.frames.map(({ payload }) => payload)).toEqual([{ runId: "t" }, { runId: "t", after: "e-1" }]);
    expect(server.tickets()).toBe(2);
  },
);

test.each(violations)(
  "the close code %i ends the calls with an error, because a repetition would break the protocol again",
  async (code) => {
    const server = await startScriptedSocketServer([closeAfterEvent((socket) => socket.close(code, "a reason")), complete]);
    const { seen, error } = await follow(await connect(server.url));
    expect(seen).toEqual(["e-1"]);
    expect(error).toMatchObject({ code: "protocol_violation", closeCode: code, message: expect.stringContaining(`${code} a reason`) });
  },
);

test("a lost connection and a silent one are replaced", async () => {
  const server = await startScriptedSocketServer([closeAfterEvent((socket) => socket.terminate()), () => {}, complete]);
  expect(await follow(await connect(server.url, { silenceMs: 1000 }))).toEqual({ seen: ["e-1", "e-2"], error: undefined });
  expect(server.tickets()).toBe(3);
});

test("a run that is silent for longer than the patience between two lost connections is followed on", async () => {
  const realNow = performance.now.bind(performance);
  let passedMs = 0;
  const now = vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
  onTestFinished(() => now.mockRestore());
  const loseAfterSilence: Script = (frame, socket) => {
    answer(socket, frame, { runId: "t", following: true });
    passedMs += 60_000;
    socket.terminate();
  };
  const server = await startScriptedSocketServer([loseAfterSilence, loseAfterSilence, complete]);
  expect(await follow(await connect(server.url))).toEqual({ seen: ["e-2"], error: undefined });
});

test("a client whose connection was aborted while it opened leaves no connection", async () => {
  const server = await startScriptedSocketServer([complete]);
  const opening = new AbortController();
  const ticket = Promise.withResolvers<string>();
  const getTicket = (): Promise<string> => {
    opening.abort(new Error("The page was left."));
    return ticket.promise;
  };
  await expect(connectBridge({ url: server.url, getTicket }, { signal: opening.signal })).rejects.toThrow("The page was left.");
  ticket.resolve("ticket");
  expect((await follow(await connect(server.url))).seen).toEqual(["e-2"]);
  expect(server.connections()).toBe(1);
});

test("a silent sequence is requested again, and ends if Bridge has no further event", async () => {
  const script: Script = (frame, socket) => {
    answer(socket, frame, { runId: "t", following: true, ...(frame.payload["after"] !== undefined && { ended: true }) });
    if (frame.payload["after"] === undefined) push(socket, "t", 1);
  };
  const server = await startScriptedSocketServer([script]);
  expect(await follow(await connect(server.url, { silenceMs: 1000 }))).toEqual({ seen: ["e-1"], error: undefined });
  expect(server.tickets()).toBe(1);
});

test("a token that is rejected after a reconnect ends the calls", async () => {
  const server = await startScriptedSocketServer([closeAfterEvent((socket) => socket.close(4401, "token-withdrawn"))], 1);
  const { seen, error } = await follow(await connect(server.url));
  expect(seen).toEqual(["e-1"]);
  expect(error).toMatchObject({ code: "unauthenticated", status: 401 });
});

test("calls reject after patienceMs if the server closes every connection", async () => {
  const server = await startScriptedSocketServer([(_frame, socket) => socket.close(4503, "bridge-stopped")]);
  const { error } = await follow(await connect(server.url, { patienceMs: 100 }));
  expect(error).toMatchObject({ code: "unreachable", closeCode: 4503 });
  expect(server.tickets()).toBeGreaterThan(1);
});

test("a request whose answer was lost is repeated with the same task id; a decision is not", async () => {
  const server = await startScriptedSocketServer([
    (_frame, socket) => socket.terminate(),
    (frame, socket) => (frame.op === "agent.run" ? answer(socket, frame, { runId: "t", status: "started" }) : socket.terminate()),
  ]);
  const client = await connect(server.url);
  expect(await client.run({ agent: "a", input: "Hello." })).toEqual({ runId: "t" });
  const [first, second] = server.frames;
  expect(first?.payload["taskId"]).toMatch(/^[0-9a-f]{32}$/);
  expect(second?.payload).toEqual(first?.payload);
  await expect(client.approve({ toolCallId: "call-1" })).rejects.toMatchObject({ code: "unreachable" });
  expect(server.frames.filter(({ op }) => op === "tool.approve")).toHaveLength(1);
});

test("a request that Bridge defers is repeated after the requested pause", async () => {
  let requests = 0;
  const server = await startScriptedSocketServer([
    (frame, socket) => {
      requests += 1;
      const detail = { message: "Bridge is shutting down.", retryAfterSeconds: 0 };
      if (requests === 1) answer(socket, frame, { error: "draining", detail }, 503);
      else answer(socket, frame, { runId: "t", status: "started" });
    },
  ]);
  expect(await (await connect(server.url)).run({ agent: "a", input: "Hello." })).toEqual({ runId: "t" });
  expect(requests).toBe(2);
});

test("a run that is deleted while it is followed ends its sequence with an error", async () => {
  const server = await startScriptedSocketServer([
    (frame, socket) => {
      answer(socket, frame, { runId: "t", following: true });
      push(socket, "t", 1);
      socket.send(JSON.stringify({ op: "agent.event", payload: { runId: "t", event: null, error: "run-not-found" } }));
    },
  ]);
  const { seen, error } = await follow(await connect(server.url));
  expect(seen).toEqual(["e-1"]);
  expect(error).toMatchObject({ code: "run-not-found", status: 404 });
});

test("events of an earlier sequence and unknown messages are ignored", async () => {
  const server = await startScriptedSocketServer([
    (frame, socket) => {
      push(socket, "t", 7);
      socket.send(JSON.stringify({ op: "agent.news", payload: {} }));
      complete(frame, socket);
    },
  ]);
  expect(await follow(await connect(server.url))).toEqual({ seen: ["e-2"], error: undefined });
});

test("a message that is not from Bridge ends the calls", async () => {
  const server = await startScriptedSocketServer([(_frame, socket) => socket.send("<html>")]);
  const { error } = await follow(await connect(server.url));
  expect(error).toMatchObject({ code: "unexpected_answer", message: expect.stringContaining("<html>") });
});
