import type { Probe, ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { probeVersion } from "../shared/agent-program/probe-program.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { openCodeEnvironment } from "./start.ts";

/** Looks for the program, the same for both connections. */
export function find({ settings, env }: ProgramContext): ProgramLookup {
  const name = settings.command ?? "opencode";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program !== null) return { argv: [program] };
  return { missing: `${name} is not on the PATH: npm install -g opencode-ai, or set BRIDGE_OPENCODE_COMMAND.` };
}

/** Asks the program for its version. */
export async function probe(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const version = await probeVersion(context, argv, openCodeEnvironment(context, context.dataDir));
  const hasRipgrep = findProgram("rg", context.env["PATH"] ?? "") !== null;
  return { version, detail: `opencode ${version}${hasRipgrep ? "" : "; without rg on the PATH every task that searches downloads it"}` };
}
