import { homedir } from "node:os";
import type { Connection } from "#contract";
import type { Credentials, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { probeProgram } from "../shared/agent-program/probe-program.ts";
import { apiKeyName, codexEnvironment } from "./configuration.ts";
import { credentialsAdvice } from "./failures.ts";

/** Looks for credentials in the environment, then for the operator's login; whether they are valid only the model's vendor knows. */
export async function findCredentials(_connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials> {
  const { env, settings } = context;
  const keyName = apiKeyName(context);
  if (keyName !== undefined) return { ok: true, detail: keyName };
  if (env["OPENAI_BASE_URL"] !== undefined) return { ok: true, detail: "none, for the endpoint of OPENAI_BASE_URL" };
  if (settings.home === "agent") return { ok: false, detail: `none: ${credentialsAdvice}` };
  const call = { argv: [...argv, "login", "status"], env: codexEnvironment(context), home: env["HOME"] ?? homedir() };
  const { end, stdout } = await probeProgram(context, call);
  const said = `${stdout} ${end.stderr}`.trim().slice(-500);
  return end.exitCode === 0 ? { ok: true, detail: said } : { ok: false, detail: `${said}: run codex login, or ${credentialsAdvice}` };
}
