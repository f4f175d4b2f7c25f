import type { Config } from "../config/config.ts";
import { listSettingValues } from "../config/list-setting-values.ts";
import { listAllSettings } from "./load-config.ts";
import type { Environment } from "./sandbox.ts";

/** Summarizes the configuration of a start for the log, with every setting that differs from its default. Contains no secret. */
export function summarizeConfig(config: Config, environment: Environment) {
  const { host, port, adapters, databaseUrl, sandbox, dataDir, tokenHashes, tokensFile } = config;
  const changed = listSettingValues(environment, listAllSettings()).filter(({ value, fallback }) => value !== null && value !== fallback);
  const auth = [tokenHashes.length > 0 && "BRIDGE_GATEWAY_TOKEN_HASH", tokensFile !== null && "BRIDGE_TOKENS_FILE"].filter(
    (name) => name !== false,
  );
  return {
    ...{ host, port, adapters, sandbox, dataDir },
    engine: databaseUrl === null ? "sqlite" : "postgres",
    auth: auth.length > 0 ? auth : ["generated token"],
    settings: Object.fromEntries(changed.map(({ name, value }) => [name, value])),
  };
}
