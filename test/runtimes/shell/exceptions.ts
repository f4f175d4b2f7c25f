import type { Connection } from "#contract";
import type { ShellColumn } from "./columns.ts";
import type { ShellCommand } from "./commands.ts";

/** A command that a program does not run, whatever it may do and whoever says yes; listed with its reason. */
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
    reason: "Codex refuses `rm -rf` by a rule of its own.",
  },
  {
    runtime: "gemini",
    connections: ["acp", "cli"],
    template: "echo $(touch D/made)",
    reason: "Gemini CLI refuses every command with a command substitution.",
  },
  {
    runtime: "opencode",
    connections: ["cli"],
    template: "touch OUT/D",
    reason:
      "OpenCode refuses commands that name a path outside of the workspace, and over `cli` Bridge cannot answer its question about them.",
  },
];

/** Why a column never runs a command; undefined: nothing keeps it from that. */
export const exceptionTo = (
  { runtime, connection }: Pick<ShellColumn, "runtime" | "connection">,
  { template }: Pick<ShellCommand, "template">,
) => exceptions.find((one) => one.runtime === runtime && one.connections.includes(connection) && one.template === template)?.reason;
