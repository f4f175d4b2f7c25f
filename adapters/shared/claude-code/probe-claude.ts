import type { ProgramContext } from "../agent-program/agent-program.ts";
import { probeProgram, probeVersion } from "../agent-program/probe-program.ts";
import { createClaudeEnvironment } from "./environment.ts";

/** Returns the version of Claude Code. Rejects if it does not support one of the flags: the preflight reports it before any task fails. */
export async function probeClaude(
  argv: readonly string[],
  context: ProgramContext,
  neededFlags: readonly string[],
  advice: string,
): Promise<string> {
  const env = createClaudeEnvironment(context);
  const [version, help] = await Promise.all([probeVersion(context, argv, env), probeProgram(context, { argv: [...argv, "--help"], env })]);
  const unknown = neededFlags.filter((flag) => !help.stdout.includes(flag));
  if (unknown.length > 0) throw new Error(`claude ${version} does not support ${unknown.join(", ")}: ${advice}`);
  return version;
}
