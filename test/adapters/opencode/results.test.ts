import { describe, expect, test } from "vitest";
import type { UsageReport } from "#contract";
import { errorSchema, explainError, explainFinish, explainRetries } from "../../../adapters/opencode/failures.ts";
import { retryStart } from "../../../adapters/opencode/retry-start.ts";
import { readToolCall, type ToolPart } from "../../../adapters/opencode/tool-calls.ts";
import { createTally, type StepFinish } from "../../../adapters/opencode/usage.ts";
import type { ConnectionResult } from "../../../adapters/shared/agent-program/agent-program.ts";

describe("an error that OpenCode reports", () => {
  const explain = (name: string, data?: object) => explainError(errorSchema.parse(data === undefined ? { name } : { name, data }));

  test.each([
    ["ProviderAuthError", { providerID: "p", message: "No key." }, "authentication_required", /No key\..*set ANTHROPIC_API_KEY/],
    ["APIError", { message: "Bad key", statusCode: 401 }, "authentication_required", /Bad key/],
    ["APIError", { message: "Not yours", statusCode: 403 }, "authentication_required", /Not yours/],
    ["APIError", { message: "Slow down", statusCode: 429 }, "rate_limited", /Slow down/],
    ["APIError", { message: "Broken", statusCode: 500 }, "model_error", /Broken/],
    ["APIError", { message: "Cannot connect" }, "model_error", /Cannot connect/],
    ["MessageOutputLengthError", {}, "model_error", /truncated/],
    ["ContextOverflowError", { message: "Too long" }, "model_error", /context window.*Too long/],
    ["ContentFilterError", { message: "No" }, "model_error", /withheld/],
    ["UnknownError", { message: "Model not found: a/b." }, "model_error", /a\/b.*offers this model/],
    ["UnknownError", { message: "Unexpected server error. See logs" }, "model_error", /offers this model/],
    ["UnknownError", { message: "It broke\n    at f (x.js:1)" }, "adapter_error", /It broke$/],
    ["MessageAbortedError", undefined, "adapter_error", /MessageAbortedError/],
  ])("%s %j is %s", (name, data, errorCode, error) => {
    expect(explain(name, data)).toEqual({ status: "error", errorCode, error: expect.stringMatching(error) });
  });
});

test.each([
  ["stop", "ok"],
  ["other", "ok"],
  ["unknown", "ok"],
  ["length", "error"],
  ["content-filter", "error"],
  ["tool-calls", "error"],
  ["error", "error"],
  [null, "error"],
])("a last model call with finish reason %s is %s", (reason, status) => {
  expect(explainFinish(reason).status).toBe(status);
});

test.each([
  ["Too Many Requests", "rate_limited"],
  ["Provider is rate limited", "rate_limited"],
  ["HTTP 429", "rate_limited"],
  ["Overloaded", "model_error"],
])("failed calls with the last error %s are %s", (message, errorCode) => {
  expect(explainRetries(4, message)).toMatchObject({ errorCode, error: expect.stringMatching(/4 times in a row/) });
});

describe("a tool call", () => {
  const stepsOf = (state: ToolPart["state"]) => readToolCall({ type: "tool", tool: "bash", callID: "c", state });
  const input = { command: "x" };
  const invoked = { kind: "tool.invoked", toolCallId: "c", toolName: "bash", input };
  const completed = { kind: "tool.completed", toolCallId: "c" };

  test.each<[ToolPart["state"], object[]]>([
    [{ status: "pending" }, []],
    [{ status: "running", input }, [invoked]],
    [{ status: "completed", input, output: "out" }, [invoked, { ...completed, output: "out", isError: false }]],
    [{ status: "completed", input, output: "", metadata: { exit: 0 } }, [invoked, { ...completed, output: "", isError: false }]],
    [{ status: "completed", input, output: "o", metadata: { exit: 2 } }, [invoked, { ...completed, output: "o", isError: true }]],
    [{ status: "completed", input, output: "o", metadata: { exit: null } }, [invoked, { ...completed, output: "o", isError: false }]],
    [{ status: "error", input, error: "refused" }, [invoked, { ...completed, output: "refused", isError: true }]],
    // Its stream broke before it was complete, so it did not run; OpenCode closes it after the answer.
    [
      { status: "error", input: {}, error: "Tool execution aborted" },
      [{ ...completed, toolName: "bash", output: "Tool execution aborted", isError: true }],
    ],
    [
      { status: "error", input, error: "Tool execution aborted" },
      [invoked, { ...completed, output: "Tool execution aborted", isError: true }],
    ],
  ])("a tool call with the state %j emits its steps", (state, steps) => {
    expect(stepsOf(state)).toEqual(steps);
  });
});

describe("usage", () => {
  const step = (id: string, cost = 0): StepFinish => ({
    ...{ id, type: "step-finish", reason: "stop", cost },
    tokens: { input: 110, output: 25, reasoning: 5, cache: { read: 20, write: 7 } },
  });
  const once = { inputTokens: 137, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 7 };
  const tallyOf = (isPriced: boolean, ...steps: StepFinish[]) => {
    const tally = createTally({ isPriced });
    for (const one of steps) tally.add(one);
    return tally;
  };

  test("usage includes all prompt tokens in the input and thinking in the output", () => {
    expect(tallyOf(true, step("1", 0.25)).getFacts()).toEqual({ usage: once, costUsd: 0.25 });
  });

  test("usage counts each model call once, even if it is reported repeatedly", () => {
    const { usage, costUsd } = tallyOf(true, step("1", 0.25), step("1", 0.25), step("2", 0.5)).getFacts();
    expect([usage?.inputTokens, costUsd]).toEqual([2 * 137, 0.75]);
  });

  test("usage has no cost without a known price", () => {
    expect(tallyOf(false, step("1")).getFacts()).toEqual({ usage: once });
    expect(tallyOf(true, step("1")).getFacts()).toEqual({ usage: once, costUsd: 0 });
    expect(tallyOf(false, step("1", 0.25)).getFacts()).toHaveProperty("costUsd", 0.25);
  });

  test("usage of each model call is reported, with its cost if that is known", () => {
    const reports: UsageReport[] = [];
    const tally = createTally({ isPriced: false, report: (data) => reports.push(data) });
    for (const one of [step("1", 0.25), step("1", 0.25), step("2")]) tally.add(one);
    expect(reports).toEqual([{ usage: once, costUsd: 0.25 }, { usage: once }]);
    tally.markIncomplete();
    tally.add({ ...step("3"), tokens: null });
    expect(reports.slice(2)).toEqual([{ usage: { inputTokens: 0, outputTokens: 0 }, partial: true }]);
  });

  test("usage is unknown without a model call, and if OpenCode does not report all of it", () => {
    expect(tallyOf(true).getFacts()).toEqual({});
    const tally = tallyOf(true, step("1", 0.25));
    tally.markIncomplete();
    expect(tally.getFacts()).toEqual({});
  });
});

describe("a start that conflicts with another one", () => {
  const crashed: ConnectionResult = { status: "error", errorCode: "runtime_crashed", error: "SQLiteError: database is locked" };
  const startsOf = async (...endings: ConnectionResult[]) => {
    let starts = 0;
    const ending = await retryStart(async () => endings[starts++] ?? crashed);
    return { starts, ending };
  };

  test("a start that conflicts with another one is retried up to three times", async () => {
    expect(await startsOf(crashed, { ...crashed, error: "Failed query: CREATE TABLE" }, { status: "ok" })).toEqual({
      starts: 3,
      ending: { status: "ok" },
    });
    expect(await startsOf()).toEqual({ starts: 4, ending: crashed });
  });

  test.each<[string, ConnectionResult]>([
    ["that created a session", { ...crashed, resumeToken: "ses_1" }],
    ["that crashed for another reason", { ...crashed, error: "Segmentation fault" }],
    ["that was canceled", { ...crashed, errorCode: "cancelled" }],
  ])("a start that conflicts with another one is not retried for a start %s", async (_, ending) => {
    expect(await startsOf(ending, { status: "ok" })).toEqual({ starts: 1, ending });
  });
});
