import type { Probe, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { probeProgram, probeVersion } from "../shared/agent-program/probe-program.ts";
import { createCodexEnvironment } from "./configuration.ts";

/** Flags that Bridge needs to enforce a task's profile. */
const REQUIRED_FLAGS = ["--ignore-user-config", "--ignore-rules", "--sandbox", "--output-schema"];

/** The oldest supported `codex-acp`. Older versions require an OpenAI login even if the provider has a key, so each session would fail. */
const OLDEST_AGENT_VERSION = "2.6.0";

/** Checks the version of `codex`, its flags and its sandbox. */
export async function probeCodex(argv: readonly string[], context: ProgramContext): Promise<Probe> {
  const env = createCodexEnvironment(context);
  const [version, help] = await Promise.all([
    probeVersion(context, argv, env),
    probeProgram(context, { argv: [...argv, "exec", "--help"], env }),
    probeSandbox(argv, context),
  ]);
  const missing = REQUIRED_FLAGS.filter((flag) => !help.stdout.includes(flag));
  if (missing.length > 0) throw new Error(`codex ${version} does not support ${missing.join(", ")}. Run npm install -g @openai/codex`);
  return { version, detail: `codex ${version}, its sandbox works` };
}

/** Throws if this version of `codex-acp` is not supported. Accepts an unknown version (null). */
export function checkAgentVersion(version: string | null): void {
  if (version === null || version.localeCompare(OLDEST_AGENT_VERSION, "en", { numeric: true }) >= 0) return;
  throw new Error(
    `codex-acp ${version} does not support a provider with an API key. Run npm install -g @agentclientprotocol/codex-acp@${OLDEST_AGENT_VERSION} or newer.`,
  );
}

/**
 * Runs a command in the sandbox of Codex. Rejects if the sandbox does not work: every command of every task would fail without an error.
 */
export async function probeSandbox(argv: readonly string[], context: ProgramContext): Promise<void> {
  const { end } = await probeProgram(context, { argv: [...argv, "sandbox", "--", "/bin/true"], env: createCodexEnvironment(context) });
  if (end.exitCode === 0) return;
  throw new Error(
    `The sandbox of Codex does not work on this host, so no task could run commands. Allow unprivileged user namespaces ` +
      `(in a container, through its security options), or install bubblewrap (apt-get install bubblewrap). ${end.stderr.trim().slice(-500)}`.trim(),
  );
}
