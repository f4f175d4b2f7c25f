import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { NormalizedUsage } from "#contract";
import { applyStep, type LineReader, type Step } from "../../../../adapters/shared/agent-program/run-program.ts";
import { createTaskTimeline } from "../../../../adapters/shared/agent-program/task-timeline.ts";
import { createClaudeReader } from "../../../../adapters/shared/claude-code/events.ts";

const homeSetting = "BRIDGE_ANY_HOME";

/** The steps of a recorded stream of Claude Code 2.1.328. */
function replay(name: string) {
  const recorded = readFileSync(path.join(import.meta.dirname, "recorded", `${name}.jsonl`), "utf8");
  let sessionCostUsd: number | undefined;
  const read = createClaudeReader({
    homeSetting,
    onSessionCost(costUsd) {
      sessionCostUsd = costUsd;
    },
  });
  return { ...summary(recorded.split("\n").filter(Boolean), read), sessionCostUsd };
}

function summary(lines: readonly string[], read: LineReader) {
  const steps = lines.flatMap((line) => read(JSON.parse(line)));
  const only = <Kind extends Step["kind"]>(kind: Kind) => steps.filter((step): step is Extract<Step, { kind: Kind }> => step.kind === kind);
  const timeline = createTaskTimeline("t", () => {}, { streaming: true });
  for (const step of steps) if (step.kind !== "facts" && step.kind !== "ended") applyStep(timeline, step);
  return {
    steps,
    tools: steps.filter(({ kind }) => kind.startsWith("tool.")),
    deltas: only("text").map(({ text }) => text),
    answer: timeline.answer,
    discarded: only("discarded"),
    progress: only("progress").map(({ data }) => data),
    facts: Object.assign({}, ...only("facts").map(({ facts }) => facts)) as Record<string, unknown>,
    ended: only("ended").map(({ outcome }) => outcome),
    usage: only("usage").map(({ data }) => data),
  };
}

const session = /^[\da-f-]{36}$/;
const oneCall = { inputTokens: 150, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 10 };

describe("a recorded stream", () => {
  test.each([
    ["text", 1],
    ["resumed", 1],
    ["two-tools", 2],
    ["refused-once", 2],
    ["error-500-once", 1],
    ["error-401", 0],
  ])("a recorded stream of %s reports the usage of each of %i calls", (name, calls) => {
    const { usage, facts } = replay(name);
    expect(usage.map((report) => report.usage)).toEqual(Array.from({ length: calls }, () => oneCall));
    const total = facts["usage"] as NormalizedUsage;
    expect(total).toMatchObject({ inputTokens: calls * oneCall.inputTokens, outputTokens: calls * oneCall.outputTokens });
    expect(usage.every(({ model }) => /^claude-/.test(model ?? ""))).toBe(true);
  });

  test("a recorded stream of a broken answer reports what its call has used until then", () => {
    expect(replay("broken-text").usage.map((report) => report.usage)).toEqual([{ ...oneCall, outputTokens: 1 }, oneCall]);
  });

  test("a recorded stream of a sub-agent is a partial report, because its calls are not streamed", () => {
    const { usage } = replay("sub-agent");
    expect(usage.filter(({ partial }) => partial === true)).toEqual([{ usage: { inputTokens: 0, outputTokens: 0 }, partial: true }]);
  });

  test("a recorded stream of text: deltas are reported once, although the whole message follows", () => {
    const { deltas, ended, facts } = replay("text");
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe("Grüße 世界 👩‍🚀 e\u0301 \u2028 end");
    expect(ended).toEqual([{ status: "ok" }]);
    expect(facts).toEqual({ resumeToken: expect.stringMatching(session), model: "claude-opus-5-5", usage: oneCall, costUsd: 0.001134 });
  });

  test("a recorded stream of a resumed session: the session id stays, and usage and cost are of this task only", () => {
    const { facts, sessionCostUsd } = replay("resumed");
    expect(facts).toMatchObject({ resumeToken: replay("text").facts["resumeToken"], usage: oneCall, costUsd: 0.001134 });
    expect(sessionCostUsd).toBe(0.002268);
  });

  test("a recorded stream of a tool: it starts with its whole input and ends with its output", () => {
    const { tools, answer } = replay("tool");
    expect(tools).toEqual([
      { kind: "tool.invoked", toolCallId: "toolu_1", toolName: "Bash", input: { command: "echo seen", description: "Runs a command" } },
      { kind: "tool.completed", toolCallId: "toolu_1", output: "seen", isError: false },
    ]);
    expect(answer).toBe("I have seen it.");
  });

  test("a recorded stream of two tools in one message: each has its own end, and a failed command is an error", () => {
    const { tools, answer } = replay("two-tools");
    expect(tools.filter(({ kind }) => kind === "tool.completed")).toMatchObject([
      { toolCallId: "toolu_1", output: "one", isError: false },
      { toolCallId: "toolu_2", output: expect.stringContaining("two"), isError: true },
    ]);
    expect(answer).toBe("Both ran.");
  });

  test("a recorded stream of a denial: the tool call ends as an error, and the task does not", () => {
    const { tools, progress, ended, answer } = replay("denied");
    expect(tools.at(-1)).toMatchObject({ kind: "tool.completed", toolCallId: "toolu_1", isError: true });
    expect(progress).toEqual([{ denied: { toolCallId: "toolu_1", toolName: "Bash", reason: expect.stringContaining("denied") } }]);
    expect(answer).toBe("It was refused.");
    expect(ended).toEqual([{ status: "ok" }]);
  });

  test("a recorded stream of a tool that does not exist with the profile inspect: the call is an error", () => {
    const { tools, answer } = replay("inspect");
    expect(tools.at(-1)).toMatchObject({ isError: true, output: expect.stringContaining("No such tool available: Write") });
    expect(answer).toBe("It was refused.");
  });

  test("a recorded stream of a sub-agent: its tools are reported, its tokens count, and its report is not the answer", () => {
    const { tools, deltas, progress, facts, answer } = replay("sub-agent");
    expect(tools.map((step) => [step.kind, "toolCallId" in step && step.toolCallId])).toEqual([
      ["tool.invoked", "toolu_1"],
      ["tool.invoked", "toolu_2"],
      ["tool.completed", "toolu_2"],
      ["tool.completed", "toolu_1"],
    ]);
    expect(deltas.join("")).toBe("I delegate.It is done.");
    expect(answer).toBe("It is done.");
    expect(progress).toContainEqual({ subAgent: { toolCallId: "toolu_1", doing: "Running Runs a command" } });
    expect(facts).toMatchObject({ usage: { inputTokens: 600, outputTokens: 120 }, costUsd: 0.004536 });
  });

  test("a recorded stream of structured output: the tool that returns it is not reported as a tool call", () => {
    const { tools, facts, answer } = replay("structured");
    expect(tools).toEqual([]);
    expect(facts["outputs"]).toEqual({ n: 4 });
    expect(answer).toBe("The number is ");
    expect(replay("structured-alone").answer).toBe('{"n":4}');
  });

  test.each([
    ["error-400", "model_error", /400/],
    ["error-401", "authentication_required", /401.*set ANTHROPIC_API_KEY/],
    ["error-403", "authentication_required", /403.*set ANTHROPIC_API_KEY/],
    ["error-404", "model_error", /model/],
    ["error-429", "rate_limited", /429/],
    ["error-500", "model_error", /500/],
    ["not-logged-in", "authentication_required", /Not logged in.*BRIDGE_ANY_HOME=user/],
    ["unknown-session", "adapter_error", /No conversation found/],
  ])(
    "a recorded stream of %s: the task fails as %s for any subtype, and the error message is not text of the task",
    (name, errorCode, error) => {
      const { ended, deltas } = replay(name);
      expect(ended).toEqual([{ status: "error", errorCode, error: expect.stringMatching(error) }]);
      expect(deltas).toEqual([]);
    },
  );

  test("a recorded stream of a retry: it is reported as progress, and the task continues", () => {
    const { progress, ended, answer } = replay("error-500-once");
    const retry = { attempt: 1, maxRetries: 1, delayMs: expect.any(Number), httpStatus: 500, reason: "server_error" };
    expect(progress).toEqual([{ retry }]);
    expect(ended).toEqual([{ status: "ok" }]);
    expect(answer).toBe("At last.");
  });

  test("a recorded stream of an answer that broke off and started again: the first one is discarded", () => {
    const { deltas, discarded, answer, ended } = replay("broken-text");
    expect(deltas.join("")).toBe("This sentence is brokenThe whole answer.");
    expect(discarded).toHaveLength(1);
    expect(answer).toBe("The whole answer.");
    expect(ended).toEqual([{ status: "ok" }]);
  });

  test("a recorded stream of an answer that broke off in a tool call: the text before the call is kept", () => {
    const { tools, discarded, answer } = replay("broken-call");
    expect(tools).toEqual([]);
    expect(discarded).toEqual([]);
    expect(answer).toBe("I call.AFTER.");
  });

  test("a recorded stream of a refusal with a retry: the text of the refusal is discarded", () => {
    const { discarded, answer } = replay("refused-once");
    expect(discarded).toHaveLength(1);
    expect(answer).toBe("Well then.");
  });

  test("a recorded stream of an answer that continues after the token limit: its parts are joined, although the result has only the last one", () => {
    const { discarded, answer, ended } = replay("continued");
    expect(discarded).toEqual([]);
    expect(answer).toBe("Half an answer.");
    expect(ended).toEqual([{ status: "ok" }]);
  });

  test("a recorded stream of a session that was never opened: the result has no resume token", () => {
    expect(replay("unknown-session").facts["resumeToken"]).toBeUndefined();
  });
});

/** The steps of single lines. */
const meaning = (...lines: object[]) =>
  summary(
    lines.map((line) => JSON.stringify(line)),
    createClaudeReader({ homeSetting }),
  );
const whole = (text: string, more = {}) => ({
  type: "assistant",
  message: { id: "msg_1", model: "m", content: [{ type: "text", text }] },
  ...more,
});
const result = (more = {}) => ({ type: "result", subtype: "success", is_error: false, ...more });

describe("a line", () => {
  test("a line with a message that was not streamed is reported whole", () =>
    expect(meaning(whole("All of it.")).deltas).toEqual(["All of it."]));

  test("a line with text of a sub-agent is progress", () => {
    const { deltas, progress } = meaning(whole("I dig.", { parent_tool_use_id: "toolu_1" }));
    expect(deltas).toEqual([]);
    expect(progress).toEqual([{ subAgent: { toolCallId: "toolu_1", text: "I dig." } }]);
  });

  test("a line of the start names the MCP servers that failed, and those that are still silent", () => {
    const init = { type: "system", subtype: "init", session_id: "s", model: "m" };
    const servers = ["connected", "failed", "pending"].map((status) => ({ name: `is-${status}`, status }));
    expect(meaning({ ...init, mcp_servers: servers }).progress).toEqual([
      {
        failedMcpServers: ["is-failed", "is-pending"],
        warning: "The task runs without these MCP servers, because they did not start: is-failed, is-pending.",
      },
    ]);
    expect(meaning({ ...init, mcp_servers: "of another form" }).progress).toEqual([]);
  });

  test("a line of a slow tool is progress", () => {
    const line = { type: "tool_progress", tool_use_id: "toolu_1", tool_name: "Bash", parent_tool_use_id: null, elapsed_time_seconds: 30 };
    expect(meaning(line).progress).toEqual([{ tool: { toolCallId: "toolu_1", toolName: "Bash", elapsedSeconds: 30 } }]);
  });

  test("a line of an unknown kind or shape is ignored", () => {
    const lines = [{ type: "hologram" }, { type: "assistant" }, {}, { type: "user", message: { content: "text" } }];
    expect(meaning(...lines).steps).toEqual([]);
  });

  test.each([
    [{ subtype: "error_max_turns", is_error: true }, "max_turns"],
    [{ subtype: "error_max_budget_usd", is_error: true }, "budget_exceeded"],
    [{ subtype: "error_max_structured_output_retries", is_error: true }, "output_invalid"],
    [{ subtype: "error_during_execution", is_error: true, errors: ["It broke."] }, "adapter_error"],
    [{ is_error: true, terminal_reason: "api_error", result: "The connection was closed." }, "model_error"],
    [{ stop_reason: "refusal" }, "model_error"],
    [{ stop_reason: "max_tokens" }, "model_error"],
  ])("a line with the result %j is %s", (fields, errorCode) => {
    expect(meaning(result(fields)).ended).toEqual([{ status: "error", errorCode, error: expect.stringMatching(/./) }]);
  });

  test.each([
    { result: {} },
    { structured_output: [1] },
    { errors: [{}], api_error_status: "none", terminal_reason: 5, stop_reason: {} },
    { total_cost_usd: -1, model_usage_since_last_result: { m: { inputTokens: -1 } } },
  ])("a line with a result in which %j has another form is still a result", (fields) => {
    const { ended, facts } = meaning(result(fields));
    expect(ended).toEqual([{ status: "ok" }]);
    expect(facts).toEqual({});
  });

  test("a line with a result without usage leaves usage and cost unknown", () => {
    expect(meaning(result({ total_cost_usd: 5, usage: { input_tokens: 1 } })).facts).toEqual({});
  });
});

test("the usage of one model is converted", () => {
  const model = {
    inputTokens: 120,
    cacheReadInputTokens: 20,
    cacheCreationInputTokens: 10,
    outputTokens: 30,
    thinkingTokens: 5,
    costUSD: 0.5,
  };
  const { facts } = meaning(result({ model_usage_since_last_result: { m: model } }));
  expect(facts).toEqual({ usage: oneCall, costUsd: 0.5 });
});
