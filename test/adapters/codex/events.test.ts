import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findToolName, readNotice } from "../../../adapters/codex/acp.ts";
import { createCodexReader } from "../../../adapters/codex/events.ts";
import { explainFailure } from "../../../adapters/codex/failures.ts";
import { combineUsage, normalizeUsage, readSessionUsage, readTurnUsage } from "../../../adapters/codex/usage.ts";
import type { Step } from "../../../adapters/shared/agent-program/run-program.ts";

/** Reads a recorded stream of Codex 0.169.0. */
function replay(name: string) {
  const reader = createCodexReader();
  const lines = readFileSync(path.join(import.meta.dirname, "recorded", `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  const steps = lines.flatMap((line) => reader.read(JSON.parse(line)));
  return { reader, steps, stepsOf: (kind: Step["kind"]) => steps.filter((step) => step.kind === kind) };
}

const output = (text: string): Step => ({ kind: "facts", facts: { output: text, resumeToken: expect.any(String) as string } });

describe("the output of codex exec", () => {
  test("the output of codex exec reports a command, and the message after it as the answer", () => {
    const { steps, reader } = replay("tool-call");
    const input = { command: "/bin/bash -lc 'echo hi; pwd'" };
    const invoked = { kind: "tool.invoked", toolCallId: "item_1", toolName: "shell", input };
    expect(steps).toEqual([
      { kind: "text", text: "I will run." },
      invoked,
      // Repeated in case the first line was missing; each call is emitted once.
      invoked,
      { kind: "tool.completed", toolCallId: "item_1", output: "hi\n/workspace\n", isError: false },
      { kind: "text", text: "done" },
      output("done"),
      { kind: "ended", outcome: { status: "ok" } },
    ]);
    expect(reader.session).toMatch(/^[\da-f-]{36}$/);
  });

  test("the output of codex exec reports a failed command and an edit", () => {
    const { stepsOf } = replay("edit");
    expect(stepsOf("tool.completed")).toMatchObject([
      { output: expect.stringContaining("No such file"), isError: true },
      { output: "completed", isError: false },
    ]);
    expect(stepsOf("tool.invoked").at(-1)).toMatchObject({
      toolName: "apply_patch",
      input: { changes: [{ path: "/workspace/new.txt", kind: "add" }] },
    });
    expect(stepsOf("facts")).toEqual([output("Written.")]);
  });

  test("the output of codex exec reports a completed and a rejected MCP tool call", () => {
    expect(replay("mcp").stepsOf("tool.completed")).toMatchObject([
      { output: { content: [{ type: "text", text: "did look" }] }, isError: false },
    ]);
    const refused = replay("mcp-refused");
    expect(refused.stepsOf("tool.invoked")[0]).toMatchObject({ toolName: "mcp__srv__change", input: {} });
    expect(refused.stepsOf("tool.completed")).toMatchObject([{ output: { message: expect.stringContaining("approval") }, isError: true }]);
    expect(refused.stepsOf("ended")).toEqual([{ kind: "ended", outcome: { status: "ok" } }]);
  });

  test("the output of codex exec contains no line for a rejected command", () => {
    const { stepsOf } = replay("refused");
    expect(stepsOf("tool.invoked")).toEqual([]);
    expect(stepsOf("facts")).toEqual([output("done")]);
  });

  test("the output of codex exec reports an unknown model as a warning", () => {
    const { stepsOf } = replay("unknown-model");
    expect(stepsOf("progress")).toEqual([
      { kind: "progress", data: { warning: expect.stringContaining("Model metadata for `tm` not found") } },
    ]);
    expect(stepsOf("ended")).toEqual([{ kind: "ended", outcome: { status: "ok" } }]);
  });

  test("the output of codex exec keeps every Unicode character", () => {
    expect(replay("unicode").stepsOf("facts")).toEqual([output('Grüße 世界 👩‍🚀 \u2028 "q" \\ \r\n x')]);
  });

  test.each([
    ["error-400", "model_error", "Codex reports: Scripted error 400"],
    ["error-401", "authentication_required", expect.stringMatching(/401 Unauthorized.* set OPENAI_API_KEY or CODEX_API_KEY/)],
    ["error-403", "authentication_required", expect.stringContaining("403 Forbidden")],
    ["error-404", "model_error", "Codex reports: Scripted error 404"],
    ["error-429", "rate_limited", expect.stringContaining("429 Too Many Requests")],
    ["error-500", "model_error", expect.stringContaining("high demand")],
    ["no-key", "authentication_required", expect.stringContaining("Missing environment variable")],
  ])("%s is %s, reported only by the failed turn", (name, errorCode, error) => {
    const { stepsOf } = replay(name);
    expect(stepsOf("ended")).toEqual([{ kind: "ended", outcome: { status: "error", errorCode, error } }]);
    expect(stepsOf("facts")).toEqual([]);
    expect(stepsOf("progress").length).toBeGreaterThan(0);
  });

  test.each([
    ["You've hit your usage limit. Try again later.", "rate_limited"],
    ["Quota exceeded. Check your plan and billing details.", "rate_limited"],
    ["Your access token could not be refreshed. Please log out and sign in again.", "authentication_required"],
    ["Codex ran out of room in the model's context window.", "model_error"],
    ["stream disconnected before completion", "model_error"],
    ["null", "model_error"],
    ["{}", "model_error"],
  ])("the output of codex exec with the message %j is %s", (message, errorCode) => {
    expect(explainFailure(message)).toMatchObject({ status: "error", errorCode, error: expect.stringContaining(message) });
  });

  test.each([
    [{}],
    [{ type: "item.completed", item: { id: "1", type: "something_new" } }],
    [{ type: "thread.something" }],
    [{ type: "item.completed" }],
    [{ type: "item.completed", item: null }],
  ])("the line %j is ignored", (line) => {
    expect(createCodexReader().read(line)).toEqual([]);
  });

  test("a failed turn without a message is a model_error", () => {
    expect(createCodexReader().read({ type: "turn.failed" })).toMatchObject([{ kind: "ended", outcome: { errorCode: "model_error" } }]);
  });
});

describe("invalid output", () => {
  const hostile: unknown[] = [null, 5, "text", [], {}, { toString: 1, valueOf: 1 }];

  test("invalid output affects only its line", () => {
    const lines = hostile.flatMap((value) => [
      { type: "turn.failed", error: { message: value } },
      { type: "turn.failed", error: value },
      { type: "item.completed", item: value },
      { type: "item.completed", item: { id: "1", type: "mcp_tool_call", server: value, tool: value, arguments: value } },
      { type: "item.completed", item: { id: "2", type: "collab_tool_call", tool: value, status: value } },
      { type: "turn.completed", usage: value },
    ]);
    const { read } = createCodexReader();
    expect(lines.flatMap((line) => read(line)).filter(({ kind }) => kind === "ended")).toHaveLength(3 * hostile.length);
  });

  test("invalid output affects only a notice or a tool name over acp", () => {
    for (const value of hostile) {
      expect(readNotice({ sessionUpdate: "agent_message_chunk", content: { text: value } })?.text).toBeTypeOf("string");
      expect(readNotice({ sessionUpdate: "session_info_update", _meta: value })).toBeNull();
      const call = { toolCallId: "1", rawInput: { server: value, tool: "t" }, rawOutput: undefined, _meta: { is_mcp_tool_call: true } };
      expect(findToolName(call)).toBe(value === "text" ? "mcp__text__t" : undefined);
    }
  });
});

test("a declined command completes as an error", () => {
  const item = { id: "1", type: "command_execution", command: "touch x", aggregated_output: "", status: "declined" };
  expect(createCodexReader().read({ type: "item.completed", item })).toContainEqual(
    expect.objectContaining({ kind: "tool.completed", isError: true }),
  );
});

describe("usage", () => {
  const oneCall = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };
  const counts = { input_tokens: 130, cached_input_tokens: 20, cache_write_input_tokens: 0, output_tokens: 30, reasoning_output_tokens: 5 };

  test("usage over cli includes cached tokens and reasoning in the reported counts", () => {
    expect(normalizeUsage(readSessionUsage(counts))).toEqual(oneCall);
    expect(normalizeUsage(readSessionUsage({ ...counts, cache_write_input_tokens: 7 }))).toEqual({ ...oneCall, cacheWriteTokens: 7 });
    expect(readSessionUsage(undefined)).toBeUndefined();
  });

  test("usage over acp adds cached tokens to the reported input", () => {
    const turn = { inputTokens: 110, cachedReadTokens: 20, cachedWriteTokens: 0, outputTokens: 30, thoughtTokens: 5, totalTokens: 160 };
    expect(normalizeUsage(readTurnUsage(turn))).toEqual(oneCall);
    expect(readTurnUsage(null)).toBeUndefined();
  });

  test("usage of a resumed session is the difference between two totals", () => {
    const before = readSessionUsage(replay("tool-call").reader.sessionUsage);
    const after = readSessionUsage(replay("resumed").reader.sessionUsage);
    expect(normalizeUsage(combineUsage(after, before, -1))).toEqual(oneCall);
    expect(combineUsage(after, undefined, -1)).toBeUndefined();
    // A total that is smaller than the previous one is not comparable with it.
    expect(combineUsage(before, after, -1)).toBeUndefined();
  });
});

describe("over acp", () => {
  test.each([
    [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Warning: x" } }, { text: "Warning: x" }],
    [{ sessionUpdate: "agent_message_chunk", messageId: "msg_1", content: { type: "text", text: "Hello" } }, null],
    [{ sessionUpdate: "session_info_update", _meta: { codex: { threadStatus: { type: "systemError" } } } }, { failed: true }],
    [
      { sessionUpdate: "session_info_update", _meta: { codex: { error: { message: "Reconnecting... 1/2", willRetry: true } } } },
      { discarded: "Reconnecting... 1/2" },
    ],
    [{ sessionUpdate: "session_info_update", _meta: { codex: { error: { message: "no", willRetry: false } } } }, null],
    [{ sessionUpdate: "session_info_update", _meta: { codex: { threadStatus: { type: "idle" } } } }, null],
    [{ sessionUpdate: "session_info_update", title: "A title" }, null],
  ])("the update %j is read as a notice or ignored", (update, notice) => {
    expect(readNotice(update)).toEqual(notice);
  });

  test.each([
    [{ kind: "execute", rawInput: { command: "ls", cwd: "/workspace" } }, "shell"],
    [{ kind: "edit" }, "apply_patch"],
    [{ kind: "execute", rawInput: { server: "srv", tool: "look", arguments: {} }, _meta: { is_mcp_tool_call: true } }, "mcp__srv__look"],
    [{ kind: "other", title: "spawnAgent", rawInput: { prompt: "Do it.", senderThreadId: "1" } }, "spawn_agent"],
    [{ kind: "fetch" }, undefined],
  ])("the call %j has the same tool name as over cli", (call, name) => {
    expect(findToolName({ toolCallId: "1", rawInput: undefined, rawOutput: undefined, ...call })).toBe(name);
  });
});
