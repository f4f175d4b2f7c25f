import { homedir } from "node:os";
import type { Connection } from "#contract";
import type { Credentials, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { probeProgram } from "../shared/agent-program/probe-program.ts";
import { apiKeyName, createCodexEnvironment } from "./configuration.ts";
import { CREDENTIALS_ADVICE, LOGIN_ADVICE } from "./failures.ts";

/** Checks for credentials in the environment and then for the operator's login. Does not check whether they are valid. */
export async function findCredentials(_connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials> {
  const { env, settings } = context;
  const keyName = apiKeyName(context);
  if (keyName !== undefined) return { ok: true, detail: keyName };
  if (env["OPENAI_BASE_URL"] !== undefined) return { ok: true, detail: "no API key; the endpoint of OPENAI_BASE_URL may not need one" };
  if (settings.home === "agent") return { ok: false, detail: `no credentials: ${CREDENTIALS_ADVICE}` };
  const call = { argv: [...argv, "login", "status"], env: createCodexEnvironment(context), home: env["HOME"] ?? homedir() };
  const { end, stdout } = await probeProgram(context, call);
  const output = `${stdout} ${end.stderr}`.trim().slice(-500) || `codex login status exited with ${end.exitCode}`;
  return end.exitCode === 0 ? { ok: true, detail: output } : { ok: false, detail: `${output}: ${LOGIN_ADVICE}` };
}
