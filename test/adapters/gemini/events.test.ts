import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { createGeminiReader, usageOf } from "../../../adapters/gemini/events.ts";
import { explainFailure } from "../../../adapters/gemini/failures.ts";
import type { Step } from "../../../adapters/shared/agent-program/run-program.ts";

/** Reads a recorded stream of Gemini CLI 0.61.0 and its exit. */
function replay(name: string, exitCode: number) {
  const { read, explainExit } = createGeminiReader();
  const file = path.join(import.meta.dirname, "recorded", `${name}.jsonl`);
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const steps = lines.flatMap((line) => read(JSON.parse(line)));
  const known = steps.flatMap((step) => (step.kind === "facts" ? [step.facts] : []));
  return {
    steps,
    facts: Object.assign({}, ...known) as Record<string, unknown>,
    ended: steps.flatMap((step) => (step.kind === "ended" ? [step.outcome] : [])),
    exit: explainExit({ exitCode, stderr: "" }),
  };
}

const answerOf = (steps: readonly Step[]): string =>
  steps
    .slice(steps.findLastIndex(({ kind }) => kind.startsWith("tool.")) + 1)
    .map((step) => (step.kind === "text" ? step.text : ""))
    .join("");

describe("the output of Gemini CLI", () => {
  test("the output of Gemini CLI reports a tool call, the answer after it, the model and the session", () => {
    const { steps, facts, ended } = replay("tool-call", 0);
    const toolCallId = "run_shell_command__c1";
    expect(steps.filter(({ kind }) => kind.startsWith("tool."))).toEqual([
      { kind: "tool.invoked", toolCallId, toolName: "run_shell_command", input: { command: "echo hi" } },
      { kind: "tool.completed", toolCallId, output: "hi", isError: false },
    ]);
    expect(answerOf(steps)).toBe("It said hi.");
    expect(ended).toEqual([{ status: "ok" }]);
    expect(facts).toEqual({
      usage: { inputTokens: 260, outputTokens: 70, thinkingTokens: 10, cacheReadTokens: 40 },
      resumeToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
      model: "gemini-2.5-flash",
    });
  });

  test("the output of Gemini CLI keeps the id of a resumed session and counts only this task", () => {
    const { steps, facts } = replay("resume", 0);
    expect(answerOf(steps)).toBe("I go on.");
    expect(facts["resumeToken"]).toBe(replay("tool-call", 0).facts["resumeToken"]);
    expect(facts["usage"]).toEqual({ inputTokens: 130, outputTokens: 35, thinkingTokens: 5, cacheReadTokens: 20 });
  });

  test("the output of Gemini CLI reports a denied tool as an error of the call and not of the task", () => {
    const { steps, ended } = replay("denied", 0);
    expect(steps.find(({ kind }) => kind === "tool.completed")).toMatchObject({
      isError: true,
      output: expect.stringContaining("not found"),
    });
    expect(answerOf(steps)).toBe("It was refused.");
    expect(ended).toEqual([{ status: "ok" }]);
  });

  test("the output of Gemini CLI reports the results of two parallel tools separately", () => {
    const { steps } = replay("two-tools", 0);
    expect(steps.flatMap((step) => (step.kind === "tool.completed" ? [[step.toolCallId, step.isError]] : []))).toEqual([
      ["read_file__c3", false],
      ["read_file__c4", true],
    ]);
  });

  test("the output of Gemini CLI keeps every character, including terminal control sequences", () => {
    const text = 'Grüße 世界 👩‍🚀 e\u0301 \u202eabc\u202c \u2028\u2029 \ufeff "quoted" \\back\\ \t tab\r\nnext line \u001b[31mred\u001b[0m';
    expect(answerOf(replay("unicode", 0).steps)).toBe(text);
  });

  test("the output of Gemini CLI ignores an error that Gemini recovered from", () => {
    expect(replay("error-once", 0).ended).toEqual([{ status: "ok" }]);
  });

  // The exit code is the status modulo 256, and some messages omit the status.
  test.each([
    ["error-400", 144, "model_error"],
    ["error-401", 145, "authentication_required"],
    ["error-403", 147, "authentication_required"],
    ["error-404", 1, "model_error"],
    ["error-429", 173, "rate_limited"],
    ["error-500", 244, "model_error"],
    ["max-turns", 53, "max_turns"],
    // An empty answer exits with 0.
    ["empty", 0, "model_error"],
  ])("%s with exit %i is %s", (name, exitCode, errorCode) => {
    const { steps, ended, exit } = replay(name, exitCode);
    expect(ended).toEqual([]);
    expect(exit).toEqual({ status: "error", errorCode, error: expect.stringMatching(/Gemini/) });
    expect(answerOf(steps)).toBe("");
  });

  test("the output of Gemini CLI reports no session before the first model answer, but one after the turn limit", () => {
    expect(replay("error-401", 145).facts).toEqual({});
    expect(replay("max-turns", 53).facts).toHaveProperty("resumeToken");
  });

  // When Gemini detects a loop it stops, discards the answer and reports success.
  test("the output of Gemini CLI reports a detected loop as a failure", () => {
    const { read, explainExit } = createGeminiReader();
    read({ type: "error", severity: "warning", message: "Loop detected, stopping execution" });
    expect(read({ type: "result", status: "success" })).toEqual([]);
    expect(explainExit({ exitCode: 0, stderr: "" })).toMatchObject({
      errorCode: "model_error",
      error: expect.stringContaining("Loop detected"),
    });
  });

  test("the output of Gemini CLI ignores lines of other types and shapes", () => {
    const { read } = createGeminiReader();
    expect(
      [{ type: "thought" }, { type: "init" }, { type: "message", role: "user", content: "x" }, {}].flatMap((line) => read(line)),
    ).toEqual([]);
  });

  test("the output of Gemini CLI reports success without usage if the counts have an unknown form or are negative", () => {
    for (const stats of [{ models: null }, { total_tokens: 10, input_tokens: -3, output_tokens: 2 }])
      expect(createGeminiReader().read({ type: "result", status: "success", stats })).toEqual([
        { kind: "ended", outcome: { status: "ok" } },
      ]);
  });

  test("the output of Gemini CLI reports the model with the most tokens when a small model selected it", () => {
    const models = { "gemini-2.5-flash-lite": { total_tokens: 12 }, "gemini-2.5-pro": { total_tokens: 900 } };
    const line = { type: "result", status: "success", stats: { total_tokens: 912, input_tokens: 800, output_tokens: 100, models } };
    expect(createGeminiReader().read(line)[0]).toMatchObject({ facts: { model: "gemini-2.5-pro" } });
  });
});

describe("an exit without a last line", () => {
  test.each([
    [41, "authentication_required"],
    [42, "adapter_error"],
    [52, "adapter_error"],
    [53, "max_turns"],
    [55, "adapter_error"],
    [145, "authentication_required"],
    [173, "rate_limited"],
    [247, "model_error"],
  ])("%i is %s, with the last line of stderr for Gemini's own codes", (exitCode, errorCode) => {
    expect(explainFailure(exitCode, undefined, "noise\nwhat it said\n")).toMatchObject({
      status: "error",
      errorCode,
      error: expect.stringMatching(exitCode < 100 ? /what it said$/ : /./),
    });
  });

  test.each([0, 1, 137, null])("an exit without a last line exit code %s without a reason in the output is not explained", (exitCode) => {
    expect(explainFailure(exitCode, undefined, "Killed")).toBeNull();
  });
});

test("a stopped session can be resumed only after a model answer", () => {
  const reader = createGeminiReader();
  reader.read({ type: "init", session_id: "s-1" });
  expect(reader.storedSession).toBeUndefined();
  reader.read({ type: "tool_use", tool_id: "1", tool_name: "glob", parameters: {} });
  expect(reader.storedSession).toBe("s-1");
});

test("thinking tokens are the total minus its parts and are included in the output", () => {
  expect(usageOf({ total_tokens: 165, input_tokens: 130, output_tokens: 30, cached: 20 })).toEqual({
    inputTokens: 130,
    outputTokens: 35,
    thinkingTokens: 5,
    cacheReadTokens: 20,
  });
});
