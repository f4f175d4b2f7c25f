import { describe, expect, test } from "vitest";
import { errorSchema, explainError, explainFinish, explainRetries } from "../../../adapters/opencode/failures.ts";
import { startUntilAlone } from "../../../adapters/opencode/retry-start.ts";
import { readTool, type ToolPart } from "../../../adapters/opencode/tool-calls.ts";
import { createTally, type StepFinish } from "../../../adapters/opencode/usage.ts";
import type { Ending } from "../../../adapters/shared/agent-program/agent-program.ts";

describe("an error", () => {
  const explain = (name: string, data?: object) => explainError(errorSchema.parse(data === undefined ? { name } : { name, data }));

  test.each([
    ["ProviderAuthError", { providerID: "p", message: "No key." }, "authentication_required", /No key\..*set ANTHROPIC_API_KEY/],
    ["APIError", { message: "Bad key", statusCode: 401 }, "authentication_required", /Bad key/],
    ["APIError", { message: "Not yours", statusCode: 403 }, "authentication_required", /Not yours/],
    ["APIError", { message: "Slow down", statusCode: 429 }, "rate_limited", /Slow down/],
    ["APIError", { message: "Broken", statusCode: 500 }, "model_error", /Broken/],
    ["APIError", { message: "Cannot connect" }, "model_error", /Cannot connect/],
    ["MessageOutputLengthError", {}, "model_error", /cut short/],
    ["ContextOverflowError", { message: "Too long" }, "model_error", /grown over.*Too long/],
    ["ContentFilterError", { message: "No" }, "model_error", /withheld/],
    ["UnknownError", { message: "Model not found: a/b." }, "model_error", /a\/b.*model that was asked for/],
    ["UnknownError", { message: "Unexpected server error. See logs" }, "model_error", /model that was asked for/],
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
])("a last call of the model that came to %s is %s", (reason, status) => {
  expect(explainFinish(reason).status).toBe(status);
});

test.each([
  ["Too Many Requests", "rate_limited"],
  ["Provider is rate limited", "rate_limited"],
  ["HTTP 429", "rate_limited"],
  ["Overloaded", "model_error"],
])("tries that end with %s are %s", (said, errorCode) => {
  expect(explainRetries(4, said)).toMatchObject({ errorCode, error: expect.stringMatching(/4 times in a row/) });
});

describe("a call of a tool", () => {
  const meaningOf = (state: ToolPart["state"]) => readTool({ type: "tool", tool: "bash", callID: "c", state });
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
    // Its stream broke before it was complete: it did not run, and is closed behind the answer.
    [
      { status: "error", input: {}, error: "Tool execution aborted" },
      [{ ...completed, toolName: "bash", output: "Tool execution aborted", isError: true }],
    ],
    [
      { status: "error", input, error: "Tool execution aborted" },
      [invoked, { ...completed, output: "Tool execution aborted", isError: true }],
    ],
  ])("%j", (state, steps) => {
    expect(meaningOf(state)).toEqual(steps);
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

  test("has all prompt tokens in its input and thinking in its output", () => {
    expect(tallyOf(true, step("1", 0.25)).facts()).toEqual({ usage: once, costUsd: 0.25 });
  });

  test("counts every call once, however often it is told", () => {
    const { usage, costUsd } = tallyOf(true, step("1", 0.25), step("1", 0.25), step("2", 0.5)).facts();
    expect([usage?.inputTokens, costUsd]).toEqual([2 * 137, 0.75]);
  });

  test("without prices has no cost, which is not a cost of 0", () => {
    expect(tallyOf(false, step("1")).facts()).toEqual({ usage: once });
    expect(tallyOf(true, step("1")).facts()).toEqual({ usage: once, costUsd: 0 });
    expect(tallyOf(false, step("1", 0.25)).facts()).toHaveProperty("costUsd", 0.25);
  });

  test("is unknown without a call, and where some of it is not told", () => {
    expect(tallyOf(true).facts()).toEqual({});
    const tally = tallyOf(true, step("1", 0.25));
    tally.miss();
    expect(tally.facts()).toEqual({});
  });
});

describe("a start that stumbles over another one", () => {
  const crashed: Ending = { status: "error", errorCode: "runtime_crashed", error: "SQLiteError: database is locked" };
  const startsOf = async (...endings: Ending[]) => {
    let starts = 0;
    const ending = await startUntilAlone(async () => endings[starts++] ?? crashed);
    return { starts, ending };
  };

  test("is made again, a few times", async () => {
    expect(await startsOf(crashed, { ...crashed, error: "Failed query: CREATE TABLE" }, { status: "ok" })).toEqual({
      starts: 3,
      ending: { status: "ok" },
    });
    expect(await startsOf()).toEqual({ starts: 4, ending: crashed });
  });

  test.each<[string, Ending]>([
    ["in which a session was begun", { ...crashed, resumeToken: "ses_1" }],
    ["that crashed of something else", { ...crashed, error: "Segmentation fault" }],
    ["that was cancelled", { ...crashed, errorCode: "cancelled" }],
  ])("but not one %s", async (_, ending) => {
    expect(await startsOf(ending, { status: "ok" })).toEqual({ starts: 1, ending });
  });
});
