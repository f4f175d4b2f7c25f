import { expect, test } from "vitest";
import { findToolName } from "../../../adapters/acp-agent/tool-name.ts";

test.each([
  [{ name: "shell", title: "ls" }, "shell"],
  [{ kind: "execute", _meta: { toolName: "run_shell_command" } }, "run_shell_command"],
  [{ _meta: { tool_name: "read_file" } }, "read_file"],
  [{ _meta: { claudeCode: { toolName: "Bash" } } }, "Bash"],
  [{ rawInput: { server: "words", tool: "lookup", arguments: {} } }, "mcp__words__lookup"],
  [{ title: "run_shell_command", kind: "execute" }, "run_shell_command"],
  [{ title: "run_shell_command: ls -l", kind: "execute" }, "run_shell_command"],
  [{ title: "Run a command", kind: "execute" }, undefined],
  [{ title: "ls", kind: "execute" }, undefined],
  [{ _meta: { toolName: "no name at all" }, kind: "execute" }, undefined],
  [{ _meta: { list: [1], text: "x", none: null } }, undefined],
  [{ kind: "execute" }, undefined],
])("the tool name of %j is %s", (call, expected) => {
  expect(findToolName({ toolCallId: "1", ...call })).toBe(expected);
});
