import path from "node:path";
import type { Logger } from "pino";
import { findUnusedPrograms } from "../../adapters/index.ts";
import type { Config } from "../config/config.ts";
import type { LoadedAdapter } from "../registry/adapter-registry.ts";
import type { Environment, OpenedSandbox } from "./sandbox.ts";

interface SuggestionOptions {
  loaded: readonly LoadedAdapter[];
  environment: Environment;
  sandbox: OpenedSandbox;
  logger: Logger;
  /** Ends the search. */
  signal: AbortSignal;
}

/** Logs which installed programs could be enabled as adapters. Takes seconds; never fails. */
export async function suggestAdapters(
  config: Pick<Config, "dataDir" | "adapters">,
  { loaded, environment, sandbox, logger, signal }: SuggestionOptions,
): Promise<void> {
  try {
    const directory = path.join(config.dataDir, "programs");
    const search = { env: environment, directory, sandbox: sandbox.sandbox, signal };
    const programs = await findUnusedPrograms(new Set(loaded.map(({ provider }) => provider)), search);
    if (programs.length === 0 || signal.aborted) return;
    const found = programs.map(({ name, version }) => `${name} ${version}`).join(", ");
    const setting = [...config.adapters, ...programs.map(({ name }) => name)].join(",");
    logger.info({ programs }, `installed here and not enabled: ${found}; to enable: BRIDGE_ADAPTERS=${setting}`);
  } catch (error) {
    logger.debug({ err: error }, "failed to look for installed agent programs");
  }
}
