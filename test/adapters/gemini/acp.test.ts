import { describe, expect, test } from "vitest";
import { explainAcpEnd, geminiAcpProfile, readAcpUsage, readToolInput } from "../../../adapters/gemini/acp.ts";
import { requestIn, server } from "./gemini-task.ts";

describe("over acp", () => {
  test.each([
    [{ toolCallId: "run_shell_command__1", title: "ls -l", kind: "execute" }, { command: "ls -l" }],
    [
      { toolCallId: "write_file__1", title: "Writing to a.md", content: [{ type: "diff", path: "/w/a.md", newText: "x" }] },
      { file_path: "/w/a.md" },
    ],
    [{ toolCallId: "read_file__1", title: "a.md" }, undefined],
  ])("the input of %j is %j", (call, input) => {
    expect(readToolInput(call)).toEqual(input);
  });

  test("the usage has no thinking tokens, because Gemini does not report them", () => {
    const _meta = { quota: { token_count: { input_tokens: 130, output_tokens: 30 }, model_usage: [] } };
    expect(readAcpUsage({ _meta })).toEqual({ inputTokens: 130, outputTokens: 30 });
    expect(readAcpUsage({})).toBeUndefined();
  });

  test("a turn without a complete model call fails, although its stop reason reports success", () => {
    const end = (input_tokens: number, stopReason: "end_turn" | "cancelled" = "end_turn") =>
      explainAcpEnd({ stopReason, _meta: { quota: { token_count: { input_tokens, output_tokens: 0 } } } });
    expect(end(0)).toMatchObject({ errorCode: "model_error", error: expect.stringContaining("no complete answer") });
    expect([end(130), end(0, "cancelled"), explainAcpEnd({ stopReason: "end_turn" })]).toEqual([undefined, undefined, undefined]);
  });

  // Loading a session damages it, and MCP servers need workspace trust, which is not granted.
  test("sessions and MCP servers are not supported", () => {
    expect(geminiAcpProfile.capabilities).toMatchObject({ sessionResume: false, mcpServers: false, approvals: true });
    expect(geminiAcpProfile.unsupportedReason?.(requestIn("/w", { mcpServers: [server] }))).toContain("does not support MCP servers");
    expect(geminiAcpProfile.unsupportedReason?.(requestIn("/w"))).toBeNull();
  });

  test("the tool name is the beginning of the call id", () => {
    expect(geminiAcpProfile.toolName?.({ toolCallId: "run_shell_command__call_1" } as never)).toBe("run_shell_command");
  });
});
