import path from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Catalog } from "#contract";
import { reportIsolatedError, catalog as shippedAdapters } from "../../adapters/index.ts";
import packageJson from "../../package.json" with { type: "json" };
import { loadTokens } from "../access/tokens.ts";
import type { Config } from "../config/config.ts";
import { StopError } from "../errors.ts";
import { createMetrics } from "../metrics.ts";
import type { Lookup } from "../network/dns-resolver.ts";
import type { LoadedAdapter } from "../registry/adapter-registry.ts";
import { loadAdapters } from "../registry/load-adapters.ts";
import { createDataDirectory } from "../store/engines/sqlite/data-paths.ts";
import { lockFile } from "../store/engines/sqlite/lock-file.ts";
import { createEndpoints } from "./endpoints.ts";
import { createEngine } from "./engine.ts";
import { createLifecycle } from "./lifecycle.ts";
import { type Environment, openSandbox } from "./sandbox.ts";

/** A Bridge with all of its parts. */
export interface App {
  server: FastifyInstance;
  /** Listens, recovers the tasks of the last run, and starts to work. Resolves with the address. */
  start(): Promise<string>;
  /** Returns the URL of the console that signs in once, within 60 seconds, with Bridge's own token; null if it has none. */
  createSignInUrl(): Promise<string | null>;
  /** Logs once which installed programs could be enabled as adapters. Takes seconds; never fails. */
  suggestAdapters(): Promise<void>;
  /** Reports an uncaught error to the adapter whose third-party code threw it. Returns false if the error is Bridge's own. */
  reportIsolatedError(error: unknown): boolean;
  /** Resolves when Bridge cannot continue, with an error that states what the operator can do. */
  failed: Promise<StopError>;
  /** Resolves when an operator asks this node to drain and to exit. */
  drainRequested: Promise<void>;
  /** Drains the tasks, closes every stream, and releases all resources. */
  close(): Promise<void>;
}

/** Replacements for tests and benchmarks. */
export interface AppOptions {
  /** Replaces the adapters that the configuration names. */
  adapters?: readonly LoadedAdapter[];
  /** Replaces the adapters that ship with Bridge. */
  catalog?: Catalog;
  environment?: Environment;
  /** Replaces the name servers of this machine. */
  resolve?: Lookup;
  /** Event-loop delay above which new dispatches are rejected; 0 means never. */
  maxEventLoopDelayMs?: number;
}

/** Differs from the name of the default database's lock file, `bridge.db.lock`. */
const DATA_DIRECTORY_LOCK = "data-directory.lock";

const EXPELLED =
  "Bridge stops: it did not reach its database for BRIDGE_LEASE_SECONDS, and the other nodes have ended its tasks. " +
  "Start it again when the database can be reached.";

/** Creates Bridge; nothing runs before `start`. Locks the data directory first, so that nothing changes while another Bridge uses it. */
export async function createApp(config: Config, logger: Logger, options: AppOptions = {}): Promise<App> {
  const setting = "BRIDGE_DATA_DIR";
  createDataDirectory(setting, config.dataDir);
  const releaseLock = lockFile(path.join(config.dataDir, DATA_DIRECTORY_LOCK), { name: "data directory", setting });
  try {
    return await composeApp(config, logger, options, releaseLock);
  } catch (error) {
    releaseLock();
    throw error;
  }
}

async function composeApp(config: Config, logger: Logger, options: AppOptions, releaseLock: () => void): Promise<App> {
  const { version } = packageJson;
  const { catalog = shippedAdapters, environment = process.env, resolve, maxEventLoopDelayMs } = options;
  const sandbox = await openSandbox(config, environment);
  const loaded = options.adapters ?? (await loadAdapters(config.adapters, { catalog, adapterSettings: config.adapterSettings }));
  const tokens = loadTokens({ config, logger });
  const metrics = createMetrics(version);
  const failed = Promise.withResolvers<StopError>();
  const drainRequest = Promise.withResolvers<void>();
  const engine = await createEngine(config, {
    ...{ loaded, catalog, environment, sandbox, resolve, tokens, metrics, logger, version },
    onDrainRequested: drainRequest.resolve,
    onExpelled: () => failed.resolve(new StopError(EXPELLED)),
  });
  tokens.onQuotasChanged(engine.dispatcher.onQuotasChanged);
  const endpoints = await createEndpoints(config, { engine, catalog, tokens, metrics, logger, version, maxEventLoopDelayMs });
  const lifecycle = createLifecycle(config, { engine, endpoints, sandbox, loaded, tokens, environment, metrics, logger, version });
  return {
    server: endpoints.server,
    start: lifecycle.start,
    createSignInUrl: lifecycle.createSignInUrl,
    suggestAdapters: lifecycle.suggestAdapters,
    reportIsolatedError,
    failed: failed.promise,
    drainRequested: drainRequest.promise,
    async close() {
      await lifecycle.close();
      releaseLock();
    },
  };
}
