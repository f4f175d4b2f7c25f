import type { ProgramContext } from "../agent-program/agent-program.ts";
import { probeProgram, probeVersion } from "../agent-program/probe-program.ts";
import { claudeEnvironment } from "./environment.ts";

/** The version of a Claude Code; rejects when it does not know these flags: a version that lacks one says so before any task does. */
export async function probeClaude(
  argv: readonly string[],
  context: ProgramContext,
  neededFlags: readonly string[],
  advice: string,
): Promise<string> {
  const env = claudeEnvironment(context);
  const [version, help] = await Promise.all([probeVersion(context, argv, env), probeProgram(context, { argv: [...argv, "--help"], env })]);
  const unknown = neededFlags.filter((flag) => !help.stdout.includes(flag));
  if (unknown.length > 0) throw new Error(`claude ${version} does not know ${unknown.join(", ")}: ${advice}`);
  return version;
}
