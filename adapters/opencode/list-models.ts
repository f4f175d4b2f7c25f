import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { LONG_PROBE_LIMIT_MS, probeProgram } from "../shared/agent-program/probe-program.ts";
import { find } from "./program.ts";
import { buildProviderConfig, findProviders } from "./providers.ts";
import { createOpenCodeEnvironment } from "./start.ts";

/** Lists the models of the configured providers, as `provider/model`; null if OpenCode is not installed or fails. */
export async function listModels(context: ProgramContext): Promise<string[] | null> {
  const found = find(context);
  if ("missing" in found) return null;
  const config = {
    provider: buildProviderConfig(context),
    ...(context.settings.home === "user" ? {} : { enabled_providers: findProviders(context) }),
  };
  const env = { ...createOpenCodeEnvironment(context, context.dataDir), OPENCODE_CONFIG_CONTENT: JSON.stringify(config) };
  const { end, stdout } = await probeProgram(context, { argv: [...found.argv, "models"], env, limitMs: LONG_PROBE_LIMIT_MS });
  return end.exitCode === 0 ? stdout.split("\n").filter((line) => /^[\w.-]+\/\S+$/.test(line)) : null;
}
