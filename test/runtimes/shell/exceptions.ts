import type { Connection } from "#contract";
import type { ShellColumn } from "./columns.ts";
import type { ShellCommand } from "./commands.ts";

/** A command that a program never runs, with any permissions and approvals; listed with its reason. */
interface ShellException {
  runtime: ShellColumn["runtime"];
  connections: readonly Connection[];
  template: string;
  reason: string;
}

const exceptions: readonly ShellException[] = [
  {
    runtime: "codex",
    connections: ["acp", "cli"],
    template: "rm -rf D/dir",
    reason: "Codex has a built-in rule that refuses `rm -rf`.",
  },
  {
    runtime: "gemini",
    connections: ["acp", "cli"],
    template: "echo $(touch D/made)",
    reason: "Gemini CLI refuses every command that contains a command substitution.",
  },
  {
    runtime: "opencode",
    connections: ["cli"],
    template: "touch OUT/D",
    reason: "OpenCode asks about paths outside the workspace. Over `cli`, Bridge cannot answer, so the command is refused.",
  },
];

/** Returns why a column never runs a command, or undefined if it may run it. */
export const exceptionTo = (
  { runtime, connection }: Pick<ShellColumn, "runtime" | "connection">,
  { template }: Pick<ShellCommand, "template">,
) => exceptions.find((one) => one.runtime === runtime && one.connections.includes(connection) && one.template === template)?.reason;
