import path from "node:path";
import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import type { Logger } from "pino";
import type { Catalog, Sandbox } from "#contract";
import type { Tokens } from "../access/tokens.ts";
import { createAdapterRegistry, type LoadedAdapter } from "../adapters/adapter-registry.ts";
import { createApprovals } from "../approvals/approvals.ts";
import { createCallbackWorker } from "../callbacks/callback-worker.ts";
import type { Config } from "../config/config.ts";
import { createDispatcher } from "../dispatch/dispatcher.ts";
import { createEventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import { createDestinationGuard } from "../network/destination-guard.ts";
import { createDnsCache } from "../network/dns-cache.ts";
import { createDnsResolver, type Lookup } from "../network/dns-resolver.ts";
import { createGuardedFetch } from "../network/guarded-fetch.ts";
import { createSchemaChecker } from "../requests/schema-checker.ts";
import { createFaultLog } from "../store/sqlite/fault-log.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { createWorkspaces } from "../workspaces/workspace-directories.ts";
import type { Environment } from "./sandbox.ts";

/** Options of the engine that are not part of the configuration. */
interface EngineOptions {
  loaded: readonly LoadedAdapter[];
  /** The adapters that can be enabled, for error messages. */
  catalog: Catalog;
  environment: Environment;
  sandbox: Sandbox | null;
  /** Replaces the name servers of this machine; for tests. */
  resolve: Lookup | undefined;
  tokens: Pick<Tokens, "quotaOf">;
  metrics: Metrics;
  logger: Logger;
}

/** The parts that accept, run and store tasks and deliver callbacks. */
export type Engine = ReturnType<typeof createEngine>;

/** Opens the store and creates the engine on it. No task runs before `startAdapters`. */
export function createEngine(config: Config, { loaded, catalog, environment, sandbox, resolve, tokens, metrics, logger }: EngineOptions) {
  const logFault = createFaultLog({ file: config.databaseFile, logger });
  const store = openStore({
    file: config.databaseFile,
    onFault(error) {
      metrics.storageFaults.inc();
      logFault(error);
    },
  });
  const eventLog = createEventLog({ store, metrics, logger });
  const approvals = createApprovals({ store, eventLog, metrics, logger, seconds: config.approvalSeconds });
  const workspaces = createWorkspaces(config);

  // Hosts from dispatches share one cache and one limit per tenant. Hosts from settings have no limit.
  const { allow } = config.callbacks;
  const allowedHosts = new Set(allow.map((entry) => entry.toLowerCase()));
  const dnsCache = createDnsCache({ resolve: resolve ?? createDnsResolver({ isConfigured: (host) => allowedHosts.has(host) }) });
  const operatorDnsCache = createDnsCache({ resolve: resolve ?? createDnsResolver({ isConfigured: () => true }) });
  const guard = createDestinationGuard({ allow, dnsCache });
  const guardedFetch = createGuardedFetch(guard);
  const callbackWorker = createCallbackWorker({ store, metrics, logger, dnsCache, config: config.callbacks });

  const schemas = createSchemaChecker();
  const registry = createAdapterRegistry({ loaded, metrics, logger });
  const dispatcher = createDispatcher({
    store,
    eventLog,
    approvals,
    registry,
    workspaces,
    guard,
    schemas,
    metrics,
    logger,
    maxConcurrent: config.maxConcurrent,
    queueLimit: config.queueLimit,
    quotaOf: (tenant) => ({ ...config.quota, ...tokens.quotaOf(tenant) }),
    idleSeconds: config.idleSeconds,
    drainSeconds: config.drainSeconds,
    mcpCommands: config.mcpCommands,
    catalogProviders: catalog.flatMap((entry) => ("provider" in entry ? [entry.provider] : [])),
  });

  /** Initializes the adapters and reports their events to the dispatcher. Resolves when every adapter has been checked once. */
  const startAdapters = (): Promise<void> =>
    registry.start({
      configure: (provider) => ({
        settings: config.adapterSettings[provider] ?? {},
        env: environment,
        dataDir: makeAdapterDirectory(config.dataDir, provider),
        retentionDays: config.retentionDays,
        logger: logger.child({ provider }),
        sandbox,
        fetch: guardedFetch.fetch,
        lookup: operatorDnsCache.lookup,
        runChild: dispatcher.runChild,
        describeProvider: registry.describe,
        listModels: registry.listModels,
        requestApproval: (question) => dispatcher.requestApproval(provider, question),
        onOrphansKilled: (count) => metrics.orphansKilled.inc(count),
      }),
      onEvent: dispatcher.onAdapterEvent,
      onChecked: dispatcher.onAdapterChecked,
    });

  return { store, eventLog, approvals, workspaces, guardedFetch, callbackWorker, schemas, registry, dispatcher, startAdapters };
}

function makeAdapterDirectory(dataDir: string, provider: string): string {
  const directory = path.join(dataDir, "adapters", provider);
  makePrivateDirectory(directory);
  return directory;
}
