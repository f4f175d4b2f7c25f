import type { Connection } from "#contract";
import type { Credentials, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { probeProgram } from "../shared/agent-program/probe-program.ts";
import { buildConfiguration } from "./configuration.ts";
import { CREDENTIALS_ADVICE, findProviders } from "./providers.ts";
import { createOpenCodeEnvironment } from "./start.ts";

/** Checks which providers have credentials. Does not check whether the credentials are valid. */
export async function findCredentials(_connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials> {
  try {
    const providers = findProviders(context);
    if (providers.length > 0) return { ok: true, detail: `providers: ${providers.join(", ")}` };
    const models = context.settings.home === "user" ? await countModels(argv, context) : 0;
    if (models > 0) return { ok: true, detail: `${models} models of the operator's own logins` };
    return { ok: false, detail: `no provider: ${CREDENTIALS_ADVICE}` };
  } catch (error) {
    return { ok: false, detail: (error as Error).message };
  }
}

/** Counts the models that OpenCode lists, which include those of the operator's logins. */
async function countModels(argv: readonly string[], context: ProgramContext): Promise<number> {
  const home = context.env["HOME"];
  const config = buildConfiguration({ profile: "inspect" }, context, { permissions: { "*": "deny" } });
  const env = { ...createOpenCodeEnvironment(context, context.dataDir), OPENCODE_CONFIG_CONTENT: config };
  const { stdout } = await probeProgram(context, { argv: [...argv, "models"], env, ...(home === undefined ? {} : { home }) });
  return stdout.split("\n").filter((line) => /^\S+\/\S+$/.test(line)).length;
}
