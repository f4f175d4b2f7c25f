import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readNotice, toolName } from "../../../adapters/codex/acp.ts";
import { createCodexReader } from "../../../adapters/codex/events.ts";
import { explainFailure } from "../../../adapters/codex/failures.ts";
import { combine, readSessionUsage, readTurnUsage, toldUsage } from "../../../adapters/codex/usage.ts";
import type { Step } from "../../../adapters/shared/agent-program/run-program.ts";

/** What a recorded stream of Codex 0.169.0 means. */
function replay(name: string) {
  const reader = createCodexReader();
  const lines = readFileSync(path.join(import.meta.dirname, "recorded", `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  const steps = lines.flatMap((line) => reader.read(JSON.parse(line)));
  return { reader, steps, told: (kind: Step["kind"]) => steps.filter((step) => step.kind === kind) };
}

const output = (text: string): Step => ({ kind: "known", facts: { output: text, resumeToken: expect.any(String) as string } });

describe("what Codex tells", () => {
  test("a command: the answer is the message behind it", () => {
    const { steps, reader } = replay("tool-call");
    const input = { command: "/bin/bash -lc 'echo hi; pwd'" };
    const invoked = { kind: "tool.invoked", toolCallId: "item_1", toolName: "shell", input };
    expect(steps).toEqual([
      { kind: "text", text: "I will run." },
      invoked,
      // Told again for the case that its beginning was not; the story takes each call once.
      invoked,
      { kind: "tool.completed", toolCallId: "item_1", output: "hi\n/workspace\n", isError: false },
      { kind: "text", text: "done" },
      output("done"),
      { kind: "ended", ending: { status: "ok" } },
    ]);
    expect(reader.session).toMatch(/^[\da-f-]{36}$/);
  });

  test("a command that fails, and an edit", () => {
    const { told } = replay("edit");
    expect(told("tool.completed")).toMatchObject([
      { output: expect.stringContaining("No such file"), isError: true },
      { output: "completed", isError: false },
    ]);
    expect(told("tool.invoked").at(-1)).toMatchObject({
      toolName: "apply_patch",
      input: { changes: [{ path: "/workspace/new.txt", kind: "add" }] },
    });
    expect(told("known")).toEqual([output("Written.")]);
  });

  test("tools of MCP servers, one that runs and one that is refused", () => {
    expect(replay("mcp").told("tool.completed")).toMatchObject([
      { output: { content: [{ type: "text", text: "did look" }] }, isError: false },
    ]);
    const refused = replay("mcp-refused");
    expect(refused.told("tool.invoked")[0]).toMatchObject({ toolName: "mcp__srv__change", input: {} });
    expect(refused.told("tool.completed")).toMatchObject([{ output: { message: expect.stringContaining("approval") }, isError: true }]);
    expect(refused.told("ended")).toEqual([{ kind: "ended", ending: { status: "ok" } }]);
  });

  test("a refused command leaves no trace: that no tool is told proves nothing", () => {
    const { told } = replay("refused");
    expect(told("tool.invoked")).toEqual([]);
    expect(told("known")).toEqual([output("done")]);
  });

  test("a model that Codex does not know is a warning, and no failure", () => {
    const { told } = replay("unknown-model");
    expect(told("progress")).toEqual([
      { kind: "progress", data: { warning: expect.stringContaining("Model metadata for `tm` not found") } },
    ]);
    expect(told("ended")).toEqual([{ kind: "ended", ending: { status: "ok" } }]);
  });

  test("every character", () => {
    expect(replay("unicode").told("known")).toEqual([output('Grüße 世界 👩‍🚀 \u2028 "q" \\ \r\n x')]);
  });

  test.each([
    ["error-400", "model_error", "Codex reports: Scripted error 400"],
    ["error-401", "authentication_required", expect.stringMatching(/401 Unauthorized.* set OPENAI_API_KEY or CODEX_API_KEY/)],
    ["error-403", "authentication_required", expect.stringContaining("403 Forbidden")],
    ["error-404", "model_error", "Codex reports: Scripted error 404"],
    ["error-429", "rate_limited", expect.stringContaining("429 Too Many Requests")],
    ["error-500", "model_error", expect.stringContaining("high demand")],
    ["no-key", "authentication_required", expect.stringContaining("Missing environment variable")],
  ])("%s is %s, and only the failed turn says so", (name, errorCode, error) => {
    const { told } = replay(name);
    expect(told("ended")).toEqual([{ kind: "ended", ending: { status: "error", errorCode, error } }]);
    expect(told("known")).toEqual([]);
    expect(told("progress").length).toBeGreaterThan(0);
  });

  test.each([
    ["You've hit your usage limit. Try again later.", "rate_limited"],
    ["Quota exceeded. Check your plan and billing details.", "rate_limited"],
    ["Your access token could not be refreshed. Please log out and sign in again.", "authentication_required"],
    ["Codex ran out of room in the model's context window.", "model_error"],
    ["stream disconnected before completion", "model_error"],
    ["null", "model_error"],
    ["{}", "model_error"],
  ])("%s", (message, errorCode) => {
    expect(explainFailure(message)).toMatchObject({ status: "error", errorCode, error: expect.stringContaining(message) });
  });

  test.each([
    [{}],
    [{ type: "item.completed", item: { id: "1", type: "something_new" } }],
    [{ type: "thread.something" }],
    [{ type: "item.completed" }],
    [{ type: "item.completed", item: null }],
  ])("%j means nothing", (line) => {
    expect(createCodexReader().read(line)).toEqual([]);
  });

  test("a turn that fails without saying why", () => {
    expect(createCodexReader().read({ type: "turn.failed" })).toMatchObject([{ kind: "ended", ending: { errorCode: "model_error" } }]);
  });
});

describe("what no program should tell", () => {
  const hostile: unknown[] = [null, 5, "text", [], {}, { toString: 1, valueOf: 1 }];

  test("costs its line and nothing else", () => {
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

  test("costs a notice or a name over acp", () => {
    for (const value of hostile) {
      expect(readNotice({ sessionUpdate: "agent_message_chunk", content: { text: value } })?.text).toBeTypeOf("string");
      expect(readNotice({ sessionUpdate: "session_info_update", _meta: value })).toBeNull();
      const call = { toolCallId: "1", rawInput: { server: value, tool: "t" }, rawOutput: undefined, _meta: { is_mcp_tool_call: true } };
      expect(toolName(call)).toBe(value === "text" ? "mcp__text__t" : undefined);
    }
  });
});

test("a command that was declined has not run", () => {
  const item = { id: "1", type: "command_execution", command: "touch x", aggregated_output: "", status: "declined" };
  expect(createCodexReader().read({ type: "item.completed", item })).toContainEqual(
    expect.objectContaining({ kind: "tool.completed", isError: true }),
  );
});

describe("usage", () => {
  const oneCall = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };
  const told = { input_tokens: 130, cached_input_tokens: 20, cache_write_input_tokens: 0, output_tokens: 30, reasoning_output_tokens: 5 };

  test("over cli: the cached tokens and the reasoning are part of what is told", () => {
    expect(toldUsage(readSessionUsage(told))).toEqual(oneCall);
    expect(toldUsage(readSessionUsage({ ...told, cache_write_input_tokens: 7 }))).toEqual({ ...oneCall, cacheWriteTokens: 7 });
    expect(readSessionUsage(undefined)).toBeUndefined();
  });

  test("over acp: the cached tokens come on top", () => {
    const turn = { inputTokens: 110, cachedReadTokens: 20, cachedWriteTokens: 0, outputTokens: 30, thoughtTokens: 5, totalTokens: 160 };
    expect(toldUsage(readTurnUsage(turn))).toEqual(oneCall);
    expect(readTurnUsage(null)).toBeUndefined();
  });

  test("a resumed session tells its total: the task's share is what came on top", () => {
    const before = readSessionUsage(replay("tool-call").reader.sessionUsage);
    const after = readSessionUsage(replay("resumed").reader.sessionUsage);
    expect(toldUsage(combine(after, before, -1))).toEqual(oneCall);
    expect(combine(after, undefined, -1)).toBeUndefined();
    // A total that is less than the one before it counts something else.
    expect(combine(before, after, -1)).toBeUndefined();
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
  ])("%j is Codex's own word or not", (update, notice) => {
    expect(readNotice(update)).toEqual(notice);
  });

  test.each([
    [{ kind: "execute", rawInput: { command: "ls", cwd: "/workspace" } }, "shell"],
    [{ kind: "edit" }, "apply_patch"],
    [{ kind: "execute", rawInput: { server: "srv", tool: "look", arguments: {} }, _meta: { is_mcp_tool_call: true } }, "mcp__srv__look"],
    [{ kind: "other", title: "spawnAgent", rawInput: { prompt: "Do it.", senderThreadId: "1" } }, "spawn_agent"],
    [{ kind: "fetch" }, undefined],
  ])("%j is called as over cli", (call, name) => {
    expect(toolName({ toolCallId: "1", rawInput: undefined, rawOutput: undefined, ...call })).toBe(name);
  });
});
