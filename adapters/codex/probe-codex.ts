import type { Probe, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { probeProgram, probeVersion } from "../shared/agent-program/probe-program.ts";
import { codexEnvironment } from "./configuration.ts";

/** Flags without which a task would not be held to what its dispatch asked for. */
const neededFlags = ["--ignore-user-config", "--ignore-rules", "--sandbox", "--output-schema"];

/** Asks `codex` for its version, for what tasks need of it, and whether its sandbox works here. */
export async function probeCodex(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const env = codexEnvironment(context);
  const [version, help] = await Promise.all([
    probeVersion(context, argv, env),
    probeProgram(context, { argv: [...argv, "exec", "--help"], env }),
    probeSandbox(argv, context),
  ]);
  const unknown = neededFlags.filter((flag) => !help.stdout.includes(flag));
  if (unknown.length > 0) throw new Error(`codex ${version} does not know ${unknown.join(", ")}: npm install -g @openai/codex`);
  return { version, detail: `codex ${version}, its sandbox works` };
}

/** Runs a command in the sandbox; rejects when that cannot be done: every command of every task would be refused, and no task would say so. */
export async function probeSandbox(argv: readonly string[], context: ProgramContext): Promise<void> {
  const { end } = await probeProgram(context, { argv: [...argv, "sandbox", "--", "/bin/true"], env: codexEnvironment(context) });
  if (end.exitCode === 0) return;
  throw new Error(
    `The sandbox of Codex does not work on this machine, so all commands would be refused: allow unprivileged user namespaces ` +
      `(in a container, by its security options), or install bubblewrap (apt-get install bubblewrap). ${end.stderr.trim().slice(-500)}`.trim(),
  );
}
