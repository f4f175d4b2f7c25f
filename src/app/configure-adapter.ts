import path from "node:path";
import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import type { Logger } from "pino";
import type { AdapterConfig } from "#contract";
import type { Config } from "../config/config.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { createAdapterLogger } from "../dispatch/run/adapter-logger.ts";
import type { Metrics } from "../metrics.ts";
import type { AdapterRegistry } from "../registry/adapter-registry.ts";
import type { Environment, OpenedSandbox } from "./sandbox.ts";

/** The parts of Bridge that adapters may use. */
interface AdapterParts extends Pick<AdapterConfig, "fetch" | "lookup"> {
  registry: AdapterRegistry;
  dispatcher: Dispatcher;
  environment: Environment;
  sandbox: OpenedSandbox;
  metrics: Metrics;
  logger: Logger;
}

/** Creates the function that configures an adapter: its settings, its directories, and the parts of Bridge that it may use. */
export const createConfigureAdapter =
  (config: Config, { registry, dispatcher, environment, sandbox, fetch, lookup, metrics, logger }: AdapterParts) =>
  (provider: string): AdapterConfig => ({
    settings: config.adapterSettings[provider] ?? {},
    env: environment,
    dataDir: makeAdapterDirectory(config.dataDir, provider),
    filesDir: makeAdapterDirectory(config.filesDir, provider),
    retentionDays: config.retentionDays,
    logger: createAdapterLogger(logger.child({ provider }), (taskId) => dispatcher.findTraceparent(provider, taskId)),
    sandbox: sandbox.sandbox,
    sandboxFault: sandbox.missing,
    fetch,
    lookup,
    runChild: dispatcher.runChild,
    describeProvider: registry.describe,
    findLoadFailure: registry.findLoadFailure,
    listModels: registry.listModels,
    requestApproval: (question) => dispatcher.requestApproval(provider, question),
    mayCallModel: (taskId) => dispatcher.mayCallModel(provider, taskId),
    onModelLimited: registry.cooldowns.noteLimit,
    onOrphansKilled: (count) => metrics.orphansKilled.inc(count),
  });

function makeAdapterDirectory(dataDir: string, provider: string): string {
  const directory = path.join(dataDir, "adapters", provider);
  makePrivateDirectory(directory);
  return directory;
}
