import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { createRunReader } from "../../../adapters/opencode/events.ts";
import { readToolCall } from "../../../adapters/opencode/tool-calls.ts";
import { createTally } from "../../../adapters/opencode/usage.ts";
import { groupSteps } from "./group-steps.ts";

/** Reads a recorded stream of `opencode run --format json` 1.18.33. */
function replay(name: string) {
  const recorded = readFileSync(path.join(import.meta.dirname, "recorded", `run-${name}.jsonl`), "utf8");
  return read(recorded.split("\n").filter(Boolean));
}

function read(lines: readonly string[]) {
  const tally = createTally({ isPriced: false });
  const reader = createRunReader(tally);
  const meaning = groupSteps(lines.flatMap((line) => reader.read(JSON.parse(line))));
  return { ...meaning, outcome: reader.getOutcome(), counted: tally.getFacts() };
}

const oneCall = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 0 };
const twoCalls = { inputTokens: 260, outputTokens: 60, thinkingTokens: 10, cacheReadTokens: 40, cacheWriteTokens: 0 };
const unfinished = { status: "error", errorCode: "model_error", error: expect.stringContaining("before the model finished its answer") };

describe("a recorded run", () => {
  test("a recorded run reports a tool call from one line, and the text after it as the answer", () => {
    const { tools, text, answer, facts, counted, ended, outcome } = replay("tool");
    const toolCallId = expect.stringMatching(/^call_/);
    expect(tools).toEqual([
      { kind: "tool.invoked", toolCallId, toolName: "bash", input: expect.objectContaining({ command: "echo hi" }) },
      { kind: "tool.completed", toolCallId, output: "hi\n", isError: false },
    ]);
    expect([text, answer]).toEqual([["I run it.", "It said hi."], "It said hi."]);
    expect(facts).toEqual({ resumeToken: expect.stringMatching(/^ses_\w+$/) });
    expect(counted).toEqual({ usage: twoCalls, costUsd: 0.00036 });
    expect([ended, outcome]).toEqual([[], { status: "ok" }]);
  });

  test("a recorded run discards an incomplete answer that was retried", () => {
    const { answer, discarded, outcome } = replay("broken-text");
    expect([answer, outcome]).toEqual(["The whole answer.", { status: "ok" }]);
    expect(discarded).toHaveLength(1);
  });

  test("a recorded run keeps the answer when an incomplete call is closed after it", () => {
    const { answer, tools, outcome } = replay("broken-call");
    expect([answer, outcome]).toEqual(["The end.", { status: "ok" }]);
    expect(tools).toEqual([
      { kind: "tool.completed", toolCallId: expect.any(String), toolName: "bash", output: "Tool execution aborted", isError: true },
    ]);
  });

  test("a recorded run keeps the id of a resumed session and counts only this task", () => {
    const { facts, counted, answer } = replay("resumed");
    expect(facts).toEqual(replay("tool").facts);
    expect(counted).toEqual({ usage: oneCall, costUsd: 0.00018 });
    expect(answer).toBe("I go on.");
  });

  test("a recorded run reports a failed command and a failed tool as errors", () => {
    const { tools } = replay("two-tools");
    expect(tools.filter(({ kind }) => kind === "tool.completed")).toMatchObject([
      { output: expect.stringContaining("missing.txt"), isError: true },
      { output: "hi\n", isError: true },
    ]);
  });

  test("a recorded run reports a denied tool call as an error and continues to the answer", () => {
    const { tools, answer, outcome } = replay("denied");
    expect(tools.at(-1)).toMatchObject({ isError: true, output: expect.stringContaining("unavailable tool") });
    expect([answer, outcome]).toEqual(["It was refused.", { status: "ok" }]);
  });

  test("a recorded run reports no usage for a task with a sub-agent", () => {
    const { tools, answer, counted } = replay("sub-agent");
    expect(tools[0]).toMatchObject({ toolName: "task" });
    expect(answer).toBe("It is done.");
    expect(counted).toEqual({});
  });

  test("a recorded run succeeds when OpenCode retried a failed model call", () => {
    expect(replay("error-500-once")).toMatchObject({ answer: "Got over it.", ended: [], outcome: { status: "ok" } });
  });

  test("a recorded run keeps every Unicode character", () => {
    const text = 'Grüße 世界 👩‍🚀 e\u0301 \u202eabc\u202c \u2028\u2029 \ufeff "quoted" \\back\\ \t tab\r\nnext line \u001b[31mred\u001b[0m';
    expect(replay("unicode").answer).toBe(text);
  });

  // OpenCode reports a status 500 only after all retries, which take more than a minute.
  test.each([
    ["error-400", "model_error", /error 400/],
    ["error-401", "authentication_required", /error 401.*ANTHROPIC_API_KEY/],
    ["error-403", "authentication_required", /error 403.*ANTHROPIC_API_KEY/],
    ["error-404", "model_error", /error 404/],
    ["error-429", "rate_limited", /error 429/],
    ["error-500", "model_error", /error 500/],
    ["unknown-model", "model_error", /offers this model/],
  ])("a recorded run reports the recording %s as %s", (name, errorCode, error) => {
    const { ended, text, counted } = replay(name);
    expect(ended).toEqual([{ status: "error", errorCode, error: expect.stringMatching(error) }]);
    expect([text, counted]).toEqual([[], {}]);
  });
});

describe("the lines of opencode run", () => {
  const stepFinish = (reason: string, id = "prt_1") => ({
    type: "step_finish",
    sessionID: "ses_1",
    part: { id, type: "step-finish", reason, cost: 0, tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } },
  });
  const readObjects = (...lines: object[]) => read(lines.map((line) => JSON.stringify(line)));

  test("the lines of opencode run fail the task when the last model call requested a tool, although the exit code is 0", () => {
    expect(readObjects(stepFinish("tool-calls")).outcome).toEqual(unfinished);
    expect(readObjects().outcome).toEqual(unfinished);
    expect(readObjects(stepFinish("tool-calls"), stepFinish("stop", "prt_2")).outcome).toEqual({ status: "ok" });
  });

  test("the lines of opencode run fail the task when they end during a model call, with the session but without usage", () => {
    const cut = readObjects(stepFinish("tool-calls"), { type: "step_start", sessionID: "ses_1" });
    expect(cut.outcome).toEqual({ status: "error", errorCode: "runtime_crashed", error: expect.stringContaining("last lines") });
    expect([cut.facts, cut.counted]).toEqual([{ resumeToken: "ses_1" }, {}]);
  });

  test("the lines of opencode run are ignored when they have other types or shapes", () => {
    const { steps } = readObjects({ type: "reasoning" }, { type: "text" }, { type: "tool_use", sessionID: "ses_1", part: {} }, {});
    expect(steps).toEqual([]);
  });

  test("the lines of opencode run can contain an error without a session", () => {
    const { facts, ended } = readObjects({ type: "error", error: { name: "ProviderAuthError", data: { message: "no key\n  at x" } } });
    expect(facts).toEqual({});
    expect(ended).toMatchObject([{ errorCode: "authentication_required", error: expect.stringMatching(/: no key\. To fix/) }]);
  });
});

test("an unknown form of counts keeps the finish reason and makes the usage unknown", () => {
  const part = { id: "p", type: "step-finish", reason: "stop", cost: "?", tokens: { total: 5 } };
  const { outcome, counted } = read([JSON.stringify({ type: "step_finish", sessionID: "ses_1", part })]);
  expect([outcome, counted]).toEqual([{ status: "ok" }, {}]);
});

test("the task fails after four incomplete answers in a row, because OpenCode would retry forever", () => {
  const finish = (reason: string) => JSON.stringify({ type: "step_finish", sessionID: "ses_1", part: { ...finished, reason } });
  const given = (...reasons: string[]) => read(reasons.map(finish)).ended;
  expect(given("unknown", "other", "unknown")).toEqual([]);
  expect(given("unknown", "unknown", "unknown", "tool-calls", "unknown")).toEqual([]);
  expect(given("tool-calls", "unknown", "unknown", "other", "unknown")).toMatchObject([
    { errorCode: "model_error", error: expect.stringContaining("was incomplete 4 times in a row") },
  ]);
});

const finished = { id: "prt_1", type: "step-finish", tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }, cost: 0 };

test("a call that OpenCode rejects is a failed call of the tool that the model named", () => {
  const part = {
    type: "tool" as const,
    tool: "invalid",
    callID: "c1",
    state: {
      status: "completed" as const,
      input: { tool: "no_such_tool", error: "unavailable tool" },
      output: "The arguments are invalid.",
    },
  };
  expect(readToolCall(part)).toMatchObject([
    { kind: "tool.invoked", toolName: "no_such_tool" },
    { kind: "tool.completed", output: "The arguments are invalid.", isError: true },
  ]);
});

test("text of a model call that ends in tool calls is not part of the answer, also if it is printed after the call", () => {
  const line = (type: string, part: object) => JSON.stringify({ type, sessionID: "ses_1", part });
  const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } };
  const state = { status: "completed", input: { tool: "x" }, output: "no" };
  const { answer } = read([
    line("step_start", {}),
    line("tool_use", { type: "tool", tool: "invalid", callID: "c1", state }),
    line("text", { text: "I call." }),
    line("step_finish", { reason: "tool-calls", cost: 0, tokens }),
    line("step_start", {}),
    line("text", { text: "The end." }),
    line("step_finish", { reason: "stop", cost: 0, tokens }),
  ]);
  expect(answer).toBe("The end.");
});
