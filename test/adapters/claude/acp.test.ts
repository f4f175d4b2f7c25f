import { expect, test } from "vitest";
import { readExtension, readNotice } from "../../../adapters/claude/acp.ts";

const result = { type: "result", subtype: "success", is_error: false, result: "The end." };

test.each<[string, string, unknown, unknown]>([
  [
    "a retry",
    "_claude/sdkMessage",
    { type: "system", subtype: "api_retry", error: "overloaded" },
    { discarded: expect.stringContaining("overloaded") },
  ],
  ["a result", "_claude/sdkMessage", result, { answer: "The end." }],
  ["a result that is an error", "_claude/sdkMessage", { ...result, is_error: true }, null],
  ["a result with an object", "_claude/sdkMessage", { ...result, structured_output: { n: 4 } }, null],
  ["a result without text", "_claude/sdkMessage", { ...result, result: "" }, null],
  [
    "a start with a failed MCP server",
    "_claude/sdkMessage",
    { type: "system", subtype: "init", mcp_servers: [{ name: "rt", status: "failed" }] },
    { progress: { failedMcpServers: ["rt"], warning: expect.stringContaining(": rt.") } },
  ],
  [
    "a complete part of a message",
    "_claude/sdkMessage",
    { type: "assistant", message: { id: "m", model: "sonnet", content: [{ type: "text", text: "Done." }] } },
    { complete: { id: "m", text: "Done.", isOwn: false } },
  ],
  [
    "an error that Claude Code wrote itself",
    "_claude/sdkMessage",
    { type: "assistant", message: { id: "e", model: "<synthetic>", content: [{ type: "text", text: "API Error: 529" }] } },
    { complete: { id: "e", text: "API Error: 529", isOwn: true } },
  ],
  [
    "a tool call",
    "_claude/sdkMessage",
    { type: "assistant", message: { id: "m", model: "sonnet", content: [{ type: "tool_use", id: "1", name: "Bash", input: {} }] } },
    null,
  ],
  ["another message", "_claude/sdkMessage", { type: "system", subtype: "init" }, null],
  ["another notification", "_auth/status_update", result, null],
])("an SDK message is read: %s", (_, method, message, notice) => {
  expect(readExtension(method, { sessionId: "s", message })).toEqual(notice);
});

test("a message without an id is a notice, and a notice about a refusal discards the preceding text", () => {
  const chunk = (text: string, fields = {}) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...fields });
  expect(readNotice(chunk("Hello.", { messageId: "m" }))).toBeNull();
  expect(readNotice({ sessionUpdate: "plan", entries: [] })).toBeNull();
  expect(readNotice(chunk("**Notice:** A hook ran."))).toEqual({ text: "**Notice:** A hook ran." });
  const stopped = "**Notice:** Sonnet 4.5's safeguards stopped the response above · continuing once with that noted";
  expect(readNotice(chunk(stopped))).toEqual({ text: stopped, discarded: stopped });
});
