import { existsSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { catalog } from "../../adapters/index.ts";
import { loadTokens } from "../access/tokens.ts";
import { openBudgetsFile } from "../budgets/budgets-file.ts";
import type { Config } from "../config/config.ts";
import { ConfigError, StartError } from "../errors.ts";
import { describeSchedule } from "../posts/schedule.ts";
import { loadAdapters } from "../registry/load-adapters.ts";
import { openRepositoriesFile } from "../repositories/repositories-file.ts";
import { openWebhooksFile } from "../webhooks/webhooks-file.ts";
import { findMissingPrograms, findPathFaults } from "./check-paths.ts";
import { listUnknown, loadConfig } from "./load-config.ts";
import { createNetwork } from "./network.ts";
import { type Environment, openSandbox } from "./sandbox.ts";

/** What a check of the configuration has found. */
export interface ConfigReport {
  /** Each prevents a start. */
  faults: readonly string[];
  warnings: readonly string[];
  /** How often a callback is retried, and over how many seconds. Null if the settings are not valid. */
  callbackRetries: { retries: number; seconds: number } | null;
}

/**
 * Checks the settings and, if they are valid, the files, adapters and the sandbox that they name, as a start does. Starts nothing, and
 * changes nothing in the data directory.
 */
export async function checkConfig(environment: Environment): Promise<ConfigReport> {
  const faults: string[] = [];
  const check = async <T>(act: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      faults.push(...(error instanceof ConfigError ? error.faults : [error.message]));
      return null;
    }
  };
  const loaded = await check(() => loadConfig(environment));
  // A misspelled setting can be the reason for a fault.
  if (loaded === null) return { faults, warnings: listUnknown(environment), callbackRetries: null };
  const { config, warnings } = loaded;
  faults.push(...findPathFaults(config));
  await check(() => checkTokens(config));
  await check(() => checkWebhooks(config));
  await check(() => checkBudgets(config));
  await check(() => checkRepositories(config));
  const adapters = await check(() => loadAdapters(config.adapters, { catalog, adapterSettings: config.adapterSettings }));
  const unusable = (adapters ?? []).flatMap((entry) => (entry.adapter === null ? [`BRIDGE_ADAPTERS: ${entry.reason}`] : []));
  using directory = mkdtempDisposableSync(path.join(tmpdir(), "bridge-check-"));
  const sandbox = await check(() => openSandbox(config, environment, directory.path));
  const missing = sandbox?.missing ?? null;
  const programs = findMissingPrograms(config, { catalog, pathVariable: environment["PATH"] ?? "" });
  return {
    faults,
    callbackRetries: describeSchedule(config.callbacks),
    warnings: [
      ...warnings,
      ...unusable,
      ...programs,
      ...(missing === null ? [] : [`BRIDGE_SANDBOX: tasks run without a sandbox: ${missing}`]),
    ],
  };
}

/** Nothing is logged, because the files are read once. */
const logger = pino({ level: "silent" });
const pollMs = 60_000;

function checkTokens(config: Config): void {
  const usesGenerated = config.tokenHashes.length === 0 && config.tokensFile === null;
  // A start would generate this token.
  if (usesGenerated && !existsSync(path.join(config.dataDir, "token"))) return;
  loadTokens({ config, logger, pollMs }).close();
}

function checkBudgets({ budgetsFile: file }: Config): void {
  if (file !== null) openBudgetsFile({ file, logger, pollMs, onReloaded: () => {} }).close();
}

function checkRepositories({ repositoriesFile: file }: Config): void {
  if (file !== null) openRepositoriesFile({ file, logger, pollMs }).close();
}

function checkWebhooks({ webhooksFile: file, callbacks: { allow } }: Config): void {
  if (file === null) return;
  const { guard } = createNetwork({ allow, resolve: undefined });
  openWebhooksFile({ file, checkUrl: guard.checkUrl, logger, pollMs, onReloaded: () => {} }).close();
}
