import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEventStream } from "../../../adapters/opencode/event-stream.ts";
import { createServerReader } from "../../../adapters/opencode/server-events.ts";
import { createTally } from "../../../adapters/opencode/usage.ts";
import { cpuCost } from "../../support/cpu-time.ts";
import { groupSteps } from "./group-steps.ts";

/** Reads recorded events of `GET /event` of `opencode serve` 1.18.33, without plugin events. */
const recorded = (name: string): Buffer => readFileSync(path.join(import.meta.dirname, "recorded", `serve-${name}.sse`));

async function eventsIn(...chunks: Uint8Array[]): Promise<unknown[]> {
  const events: unknown[] = [];
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  await readEventStream(stream, (event) => events.push(event));
  return events;
}

/** Reads a recording for the task whose session was created first. */
async function replay(name: string, session?: string) {
  const events = await eventsIn(recorded(name));
  return read(session ?? (/"sessionID":"(ses_\w+)"/.exec(JSON.stringify(events))?.[1] as string), events);
}

function read(session: string, events: readonly unknown[]) {
  const tally = createTally({ isPriced: false });
  const reader = createServerReader(session, tally);
  return { ...groupSteps(events.flatMap((event) => reader(event))), session, counted: tally.getFacts() };
}

const callsOf = (calls: number) => ({
  inputTokens: calls * 130,
  outputTokens: calls * 30,
  thinkingTokens: calls * 5,
  cacheReadTokens: calls * 20,
  cacheWriteTokens: 0,
});

describe("a recorded stream of the server", () => {
  test("a recorded stream of the server emits text deltas once, and a tool call with its input, output and one end", async () => {
    const { tools, text, answer, facts, counted, ended } = await replay("tool");
    const toolCallId = expect.stringMatching(/^call_/);
    const invoked = { kind: "tool.invoked", toolCallId, toolName: "bash", input: expect.objectContaining({ command: "echo hi" }) };
    expect(tools.slice(0, 1)).toEqual([invoked]);
    expect(tools.at(-1)).toEqual({ kind: "tool.completed", toolCallId, output: "hi\n", isError: false });
    expect(text.length).toBeGreaterThan(2);
    expect(text.join("")).toBe("I run it.It said hi.");
    expect(answer).toBe("It said hi.");
    expect(facts).toEqual({ model: "scripted/model" });
    expect(counted).toEqual({ usage: callsOf(2), costUsd: 0.00036 });
    expect(ended).toEqual([{ status: "ok" }]);
  });

  test("a recorded stream of the server counts only this task in a resumed session", async () => {
    const { session, answer, counted } = await replay("resumed");
    expect(session).toBe((await replay("tool")).session);
    expect(answer).toBe("I go on.");
    expect(counted).toEqual({ usage: callsOf(1), costUsd: 0.00018 });
  });

  test("a recorded stream of the server reports the results of two parallel tools separately", async () => {
    const { tools } = await replay("two-tools");
    const ends = tools.flatMap((step) => (step.kind === "tool.completed" ? [[step.toolCallId, step.isError, step.output]] : []));
    expect(new Set(ends.map(([id]) => id)).size).toBe(2);
    expect(ends).toEqual([
      [expect.anything(), true, expect.stringContaining("missing.txt")],
      [expect.anything(), true, "hi\n"],
    ]);
  });

  test("a recorded stream of the server reports a denied tool call as an error and continues to the answer", async () => {
    const { tools, answer, ended, asked } = await replay("denied");
    expect(tools.at(-1)).toMatchObject({ isError: true, output: expect.stringContaining("unavailable tool") });
    expect([answer, ended, asked]).toEqual(["It was refused.", [{ status: "ok" }], []]);
  });

  test("a recorded stream of the server emits a permission request with its call and session", async () => {
    const { asked, session, answer, ended } = await replay("asked");
    expect(asked).toMatchObject([{ kind: "asked", sessionId: session, permissionId: expect.stringMatching(/^per_/) }]);
    expect([answer, ended]).toEqual(["I was let.", [{ status: "ok" }]]);
  });

  test("a recorded stream of the server delays a permission request until its call has input", async () => {
    const events = (await eventsIn(recorded("asked"))) as { type: string; properties: { part?: { state?: { status: string } } } }[];
    const question = events.findIndex(({ type }) => type === "permission.asked");
    const running = events.findIndex(({ properties }) => properties.part?.state?.status === "running");
    const early = [...events.slice(0, running), events[question], ...events.slice(running, question), ...events.slice(question + 1)];
    const session = /"sessionID":"(ses_\w+)"/.exec(JSON.stringify(events))?.[1] as string;
    const [inOrder, before] = [read(session, events), read(session, early)];
    expect(before.asked).toMatchObject([{ call: { toolName: "bash", input: { command: "touch asked.txt" } } }]);
    expect(before.asked).toEqual(inOrder.asked);
    expect(read(session, early.slice(0, running + 1)).asked).toEqual([]);
  });

  test("a recorded stream of the server emits a permission request without a call under its own id", () => {
    const properties = { id: "per_1", sessionID: "ses_1", permission: "doom_loop", patterns: ["bash"], metadata: { tool: "bash" } };
    const { asked, tools } = read("ses_1", [{ type: "permission.asked", properties }]);
    const call = { toolCallId: "per_1", toolName: "doom_loop", input: { tool: "bash" } };
    expect(asked).toEqual([{ kind: "asked", sessionId: "ses_1", permissionId: "per_1", permission: "doom_loop", call, isReported: false }]);
    expect(tools).toEqual([{ kind: "tool.invoked", ...call }]);
  });

  test("a recorded stream of the server reports only those calls of a sub-agent that need permission", () => {
    const part = (callID: string, state: object) => ({
      type: "message.part.updated",
      properties: { part: { sessionID: "ses_child", type: "tool", tool: "bash", callID, state } },
    });
    const input = { command: "ls" };
    const done = { status: "completed", input, output: "files" };
    const { asked, tools } = read("ses_1", [
      part("a", { status: "running", input }),
      part("a", done),
      part("b", { status: "running", input }),
      { type: "permission.asked", properties: { id: "per_1", sessionID: "ses_child", permission: "bash", tool: { callID: "b" } } },
      part("b", done),
    ]);
    expect(asked).toMatchObject([{ sessionId: "ses_child", call: { toolCallId: "b", toolName: "bash", input }, isReported: true }]);
    expect(tools.map((step) => `${step.kind} ${"toolCallId" in step && step.toolCallId}`)).toEqual([
      "tool.invoked b",
      "tool.invoked b",
      "tool.completed b",
    ]);
  });

  test("a recorded stream of the server counts the tokens of a sub-agent, but reports neither its text nor its tools", async () => {
    const { tools, text, counted, ended } = await replay("sub-agent");
    expect(new Set(tools.map((step) => "toolName" in step && step.toolName))).toContain("task");
    expect(JSON.stringify(tools)).not.toContain('"bash"');
    expect(text.join("")).toBe("It is done.");
    expect(counted).toEqual({ usage: callsOf(4), costUsd: 0.00072 });
    expect(ended).toEqual([{ status: "ok" }]);
  });

  test("a recorded stream of the server reports structured output without a tool call", async () => {
    const { tools, facts, ended, text } = await replay("structured");
    expect(facts["outputs"]).toEqual({ colour: "blue" });
    expect([tools, text, ended]).toEqual([[], [], [{ status: "ok" }]]);
  });

  test("a recorded stream of the server succeeds without structured output, which Bridge then reads from the text", async () => {
    const { facts, answer, ended } = await replay("prose-for-a-form");
    expect(facts).not.toHaveProperty("outputs");
    expect([answer, ended]).toEqual(['{"colour":"red"}', [{ status: "ok" }]]);
  });

  test("a recorded stream of the server keeps every Unicode character", async () => {
    const text = 'Grüße 世界 👩‍🚀 e\u0301 \u202eabc\u202c \u2028\u2029 \ufeff "quoted" \\back\\ \t tab\r\nnext line \u001b[31mred\u001b[0m';
    expect((await replay("unicode")).answer).toBe(text);
  });

  test("a recorded stream of the server reports a retried model call as progress", async () => {
    const { progress, answer, ended } = await replay("error-500-once");
    expect(progress).toEqual([{ retry: 1, message: "Scripted error 500" }]);
    expect([answer, ended]).toEqual(["Got over it.", [{ status: "ok" }]]);
  });

  test("a recorded stream of the server fails the task when the provider keeps failing, although OpenCode would retry", async () => {
    const { progress, ended } = await replay("error-503");
    expect(progress.map(({ retry }) => retry)).toEqual([1, 2, 3, 4]);
    expect(ended[0]).toEqual({
      status: "error",
      errorCode: "model_error",
      error: "The model's provider failed 4 times in a row. Last error: Scripted error 503",
    });
  });

  test.each([
    ["error-400", "model_error", /error 400/],
    ["error-401", "authentication_required", /error 401.*ANTHROPIC_API_KEY/],
    ["error-403", "authentication_required", /error 403.*ANTHROPIC_API_KEY/],
    ["error-404", "model_error", /error 404/],
    ["error-429", "rate_limited", /error 429/],
    ["unknown-model", "model_error", /scripted\/unknown.*offers this model/],
  ])("a recorded stream of the server reports the recording %s as %s", async (name, errorCode, error) => {
    const { ended, text, counted } = await replay(name);
    expect(ended[0]).toEqual({ status: "error", errorCode, error: expect.stringMatching(error) });
    expect([text, counted]).toEqual([[], {}]);
  });

  test("a recorded stream of the server ignores events of another session", async () => {
    const { steps } = await replay("tool", "ses_other");
    expect(steps).toEqual([]);
  });
});

test("events are the same for any split into network chunks", async () => {
  const bytes = recorded("unicode");
  const whole = await eventsIn(bytes);
  expect(whole.length).toBeGreaterThan(10);
  const cutsOf = fc.array(fc.nat(bytes.length), { maxLength: 40 }).map((cuts) => [...cuts].sort((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(cutsOf, async (cuts) => {
      const chunks = [...cuts, bytes.length].map((cut, index) => bytes.subarray(cuts[index - 1] ?? 0, cut));
      expect(await eventsIn(...chunks)).toEqual(whole);
    }),
  );
  // Chunks of one byte split every character and every line ending.
  expect(await eventsIn(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(whole);
});

describe("the events of opencode serve", () => {
  const session = "ses_1";
  const message = (info: object) => ({
    type: "message.updated",
    properties: { info: { sessionID: session, id: "msg_1", role: "assistant", providerID: "p", modelID: "m", ...info } },
  });
  const part = (text: string, messageID = "msg_1") => ({
    type: "message.part.updated",
    properties: { part: { sessionID: session, type: "text", id: `prt_${messageID}`, messageID, text } },
  });
  const delta = (text: string, field = "text") => ({
    type: "message.part.delta",
    properties: { sessionID: session, partID: "prt_msg_1", field, delta: text },
  });
  const idle = { type: "session.idle", properties: { sessionID: session } };
  const sessionError = (error: object) => ({ type: "session.error", properties: { sessionID: session, error } });

  test("the events of opencode serve emit only the new part of a repeated text", () => {
    const events = [
      message({}),
      part(""),
      delta("One, "),
      part("One, two"),
      part("One, two"),
      delta("."),
      part("rewritten"),
      delta("x", "metadata"),
    ];
    expect(read(session, events).text).toEqual(["One, ", "two", "."]);
  });

  test("the events of opencode serve emit no text of the user or of a summary", () => {
    expect(read(session, [message({ role: "user" }), part("My own words")]).text).toEqual([]);
    expect(read(session, [message({ summary: true }), part("A note to itself"), delta("!")]).text).toEqual([]);
    expect(read(session, [message({ summary: { diffs: [] } }), part("An answer")]).text).toEqual(["An answer"]);
  });

  test.each([
    ["stop", { status: "ok" }],
    ["length", { errorCode: "model_error", error: expect.stringContaining("truncated") }],
    ["content-filter", { errorCode: "model_error", error: expect.stringContaining("withheld") }],
    ["tool-calls", { errorCode: "model_error" }],
    [undefined, { errorCode: "model_error" }],
  ])("the events of opencode serve that come to rest after a finish of %s", (finish, ending) => {
    expect(read(session, [message({ finish }), idle]).ended).toMatchObject([ending]);
  });

  test("the events of opencode serve use the error of the message before that of the session", () => {
    const error = { name: "APIError", data: { message: "of the message", statusCode: 500 } };
    const other = { name: "UnknownError", data: { message: "of the session" } };
    expect(read(session, [sessionError(other), message({ error }), idle]).ended).toMatchObject([
      { error: expect.stringContaining("of the message") },
    ]);
    expect(read(session, [sessionError(other), idle]).ended).toMatchObject([{ errorCode: "adapter_error" }]);
    expect(read("ses_2", [sessionError(other), { ...idle, properties: { sessionID: "ses_2" } }]).ended).toMatchObject([
      { error: expect.stringContaining("before the model finished its answer") },
    ]);
  });

  test("the events of opencode serve report a rate limit after too many retries", () => {
    const status = (attempt: number) => ({
      type: "session.status",
      properties: { sessionID: session, status: { type: "retry", attempt, message: "Too Many Requests" } },
    });
    const { progress, ended } = read(session, [1, 2, 3, 4].map(status));
    expect(progress).toHaveLength(4);
    expect(ended).toMatchObject([{ errorCode: "rate_limited" }]);
  });

  test("the events of opencode serve report a rate limit at once if the next attempt is hours away", () => {
    const next = Date.now() + 7_200_000;
    const status = { type: "retry", attempt: 1, message: "Too Many Requests", next };
    const { ended } = read(session, [{ type: "session.status", properties: { sessionID: session, status } }]);
    expect(ended).toMatchObject([{ errorCode: "rate_limited", error: expect.stringContaining(new Date(next).toISOString()) }]);
    const soon = { ...status, next: Date.now() + 30_000 };
    expect(read(session, [{ type: "session.status", properties: { sessionID: session, status: soon } }]).ended).toEqual([]);
  });

  test("the events of opencode serve discard the text of an incomplete answer and keep that of complete steps", () => {
    const message = { type: "message.updated", properties: { info: { sessionID: session, id: "msg_1", role: "assistant" } } };
    const text = (id: string, words: string) => ({
      type: "message.part.updated",
      properties: { part: { sessionID: session, type: "text", id, messageID: "msg_1", text: words } },
    });
    const finish = (reason: string, sessionID = session) => ({
      type: "message.part.updated",
      properties: {
        part: {
          sessionID,
          type: "step-finish",
          id: `p-${reason}`,
          reason,
          cost: 0,
          tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
        },
      },
    });
    const retry = { type: "session.status", properties: { sessionID: session, status: { type: "retry", attempt: 1, message: "Reset" } } };
    const broken = read(session, [message, text("1", "Half"), finish("stop", "ses_sub"), retry, text("2", "Whole.")]);
    expect([broken.answer, broken.discarded]).toEqual(["Whole.", ["Reset"]]);
    const whole = read(session, [message, text("1", "First. "), finish("stop"), text("2", "Half"), retry, text("3", "Second.")]);
    expect(whole.answer).toBe("First. Second.");
    // OpenCode retries a stream that ends without a finish reason.
    const unknown = read(session, [message, text("1", "Half"), finish("unknown"), text("2", "Whole."), finish("stop")]);
    expect(unknown.answer).toBe("Whole.");
  });

  test("the events of opencode serve are ignored when they have other types or shapes", () => {
    const events = [
      null,
      {},
      { type: "server.connected", properties: {} },
      { type: "session.idle" },
      { type: "message.part.updated", properties: {} },
    ];
    expect(read(session, events).steps).toEqual([]);
  });
});

test("the event stream skips data that is not JSON and rejects an event that never ends", async () => {
  expect(await eventsIn(Buffer.from('data: {"a":\n\ndata: {"b":1}\n\n'))).toEqual([{ b: 1 }]);
  await expect(eventsIn(Buffer.from("data: "), ...Array.from({ length: 9 }, () => Buffer.alloc(1024 ** 2, "x")))).rejects.toThrow(
    /buffer/i,
  );
});

test("the time per delta does not grow with the length of the text", () => {
  const reader = createServerReader("s", createTally({ isPriced: false }));
  reader({ type: "message.updated", properties: { info: { sessionID: "s", id: "m", role: "assistant" } } });
  const part = (text: string) => ({
    type: "message.part.updated",
    properties: { part: { sessionID: "s", type: "text", id: "p", messageID: "m", text } },
  });
  reader(part(""));
  const delta = { type: "message.part.delta", properties: { sessionID: "s", partID: "p", field: "text", delta: "ten bytes " } };
  const readAll = () => {
    for (let count = 0; count < 100_000; count += 1) reader(delta);
  };
  expect(cpuCost(readAll)).toBeLessThan(250);
  expect(reader(part("ten bytes ".repeat(100_000)))).toEqual([]);
});
