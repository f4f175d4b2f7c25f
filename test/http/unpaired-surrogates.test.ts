import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../support/start-bridge.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { askUntil } from "../support/until.ts";
import { openSocket } from "../websocket/socket-client.ts";
import { openReader } from "./streams/stream-reader.ts";

// Strict receivers, such as PostgreSQL, serde_json and Python, reject a whole text because of one escape of an unpaired surrogate.
const HALF = "\ud83d";
/** Above the length at which a text is stored separately from its result. */
const LONG = "x".repeat(150_000);

/** Parses JSON as strict receivers do: throws if a name or a string contains an unpaired surrogate. */
const parseStrictly = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) => {
    for (const part of [key, value]) if (typeof part === "string" && !part.isWellFormed()) throw new Error(`${part} is not well-formed.`);
    return value;
  });

describe.each([
  ["short", `Half: ${HALF}`],
  ["long", LONG + HALF],
])("a task with unpaired surrogates and a %s output", (name, output) => {
  let bridge: Bridge;
  beforeAll(async () => {
    const adapter = createInMemoryAdapter({
      provider: "cut",
      async run(_request, emit) {
        emit("tool.invoked", { toolCallId: `call${HALF}`, toolName: `tool${HALF}`, input: { [HALF]: [HALF] } });
        emit("tool.completed", { toolCallId: `call${HALF}`, toolName: `tool${HALF}`, output: { text: HALF }, isError: false });
        emit("execution.progress", { step: HALF });
        emit("assistant.text", { content: output });
        const conversationMessages = [{ role: "assistant" as const, content: output }];
        return { output, outputs: { [HALF]: HALF }, model: HALF, resumeToken: HALF, conversationMessages };
      },
    });
    bridge = await startBridge({}, { adapters: [{ provider: "cut", adapter }] });
    return () => bridge.close();
  });

  test("a task with unpaired surrogates reaches callbacks, streams, sockets and lists with U+FFFD instead of them", async () => {
    const receiver = await startReceiver();
    onTestFinished(receiver.close);
    const authorization = "Bearer secret-alpha";
    const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization } });
    onTestFinished(() => socket.close());
    const frames: string[] = [];
    socket.socket.on("message", (data) => void frames.push(String(data)));
    const stream = await openReader(`${bridge.url}/api/events`, { token: "secret-alpha" });

    const taskId = `cut-${name}`;
    const labels = { team: `a${HALF}` };
    const metadata = { note: HALF, [HALF]: 1 };
    const message = `Cut ${HALF}`;
    const accepted = await bridge.dispatch({ taskId, provider: "cut", message, labels, metadata, callbackUrl: receiver.origin });
    expect(accepted.status).toBe(202);
    const { payload } = await socket.ask("agent.result", { runId: taskId, waitSeconds: 20 });
    expect(payload.phase).toBe("completed");
    await socket.ask("agent.events", { runId: taskId });
    const isLast = (texts: string[]) => texts.some((text) => text.includes('"type":"execution.completed"'));
    await askUntil(async () => frames, isLast);
    await stream.until(({ messages }) => isLast(messages.map(({ data }) => data)));
    await askUntil(
      async () => receiver.posts.length,
      (count) => count === 1,
    );

    const whole = output.toWellFormed();
    const shown = { output: whole, outputs: { "\ufffd": "\ufffd" }, model: "\ufffd", resumeToken: "\ufffd" };
    const body = new TextDecoder("utf-8", { fatal: true }).decode(receiver.posts[0]?.body);
    const conversationMessages = [{ role: "assistant", content: whole }];
    expect(parseStrictly(body)).toMatchObject({ ...shown, conversationMessages, metadata: { note: "\ufffd", "\ufffd": 1 } });
    for (const text of [...frames, ...stream.messages.map(({ data }) => data)]) parseStrictly(text);
    expect(stream.envelopes().find(({ type }) => type === "tool.invoked")?.data).toEqual({
      ...{ toolCallId: "call\ufffd", toolName: "tool\ufffd", input: { "\ufffd": ["\ufffd"] } },
    });
    const { text } = await bridge.call("GET", `/api/v2/tasks/${taskId}`);
    expect(parseStrictly(text)).toMatchObject({ result: shown, title: "Cut \ufffd", labels: { team: "a\ufffd" } });
    const found = await bridge.call("GET", `/api/v2/tasks?label=${encodeURIComponent("team=a\ufffd")}`);
    expect(parseStrictly(found.text)).toMatchObject({ data: [{ taskId }] });
    // The fingerprint is that of the body as it was sent.
    const again = await bridge.dispatch({ taskId, provider: "cut", message, labels, metadata, callbackUrl: receiver.origin });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });
});

test("an error and a response of a socket repeat unpaired surrogates of the request as U+FFFD", async () => {
  const bridge = await startBridge();
  onTestFinished(bridge.close);
  const { status, text } = await bridge.dispatch({ [HALF]: 1 });
  expect(status).toBe(400);
  expect(JSON.stringify(parseStrictly(text))).toContain("\ufffd");
  const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
  onTestFinished(() => socket.close());
  expect(await socket.frame(JSON.stringify({ requestId: HALF, op: HALF }))).toMatchObject({ requestId: "\ufffd" });
});
