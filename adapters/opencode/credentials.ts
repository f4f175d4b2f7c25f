import type { Connection } from "#contract";
import type { Credentials, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { probeProgram } from "../shared/agent-program/probe-program.ts";
import { configText } from "./configuration.ts";
import { credentialsAdvice, findProviders } from "./providers.ts";
import { openCodeEnvironment } from "./start.ts";

/** Tells for which providers there are credentials; whether they are valid only the providers know. */
export async function findCredentials(_connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials> {
  try {
    const providers = findProviders(context);
    if (providers.length > 0) return { ok: true, detail: `providers: ${providers.join(", ")}` };
    const models = context.settings.home === "user" ? await listModels(argv, context) : 0;
    if (models > 0) return { ok: true, detail: `${models} models of the operator's own logins` };
    return { ok: false, detail: `no provider: ${credentialsAdvice}` };
  } catch (error) {
    return { ok: false, detail: (error as Error).message };
  }
}

/** Asks the program itself, which knows the operator's logins. */
async function listModels(argv: readonly string[], context: ProgramContext): Promise<number> {
  const home = context.env["HOME"];
  const config = configText({ profile: "inspect" }, context, { permissions: { "*": "deny" } });
  const env = { ...openCodeEnvironment(context, context.dataDir), OPENCODE_CONFIG_CONTENT: config };
  const { stdout } = await probeProgram(context, { argv: [...argv, "models"], env, ...(home === undefined ? {} : { home }) });
  return stdout.split("\n").filter((line) => /^\S+\/\S+$/.test(line)).length;
}
