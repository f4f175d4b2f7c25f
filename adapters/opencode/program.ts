import type { Probe, ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { lookUpProgram } from "../shared/agent-program/look-up-program.ts";
import { probeVersion } from "../shared/agent-program/probe-program.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { createOpenCodeEnvironment } from "./start.ts";

/** Finds `opencode`, which both connections use. */
export function find(context: ProgramContext): ProgramLookup {
  const advice = "Run npm install -g opencode-ai, or set BRIDGE_OPENCODE_COMMAND.";
  return lookUpProgram(context.settings.command ?? "opencode", context, advice);
}

/** Checks the version of the program and whether ripgrep is installed. */
export async function probe(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const version = await probeVersion(context, argv, createOpenCodeEnvironment(context, context.dataDir));
  const hasRipgrep = findProgram("rg", context.env["PATH"] ?? "") !== null;
  return { version, detail: `opencode ${version}${hasRipgrep ? "" : "; without rg on PATH, every task that searches files downloads it"}` };
}

/** Flags that make OpenCode print to stderr which MCP servers did not start. */
export const LOG_FLAGS = ["--print-logs", "--log-level=WARN"] as const;

/** Finds the name of an MCP server that did not start, in a log line of OpenCode. */
export const FAILED_SERVER = /message="server unavailable" key="?([^\s"]+)/;
