import type { AddressInfo } from "node:net";
import path from "node:path";
import { fastifySSE } from "@fastify/sse";
import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Sandbox } from "#contract";
import {
  acpAgents,
  catalogue,
  createSandbox,
  findUnusedPrograms,
  processLabels,
  sweepLeftovers,
  takeForeignFault,
} from "../../adapters/index.ts";
import packageJson from "../../package.json" with { type: "json" };
import { createTickets } from "../access/tickets.ts";
import { loadTokens } from "../access/tokens.ts";
import { createAdapterRegistry, type LoadedAdapter } from "../adapters/adapter-registry.ts";
import { loadAdapters } from "../adapters/load-adapters.ts";
import { createApprovals } from "../approvals/approvals.ts";
import { createCallbackWorker } from "../callbacks/callback-worker.ts";
import { createCallbacks } from "../callbacks/callbacks.ts";
import type { Config } from "../config/config.ts";
import { createDispatcher, type Dispatcher } from "../dispatch/dispatcher.ts";
import { createReceiveDispatch } from "../dispatch/receive-dispatch.ts";
import { BridgeError, StartError } from "../errors.ts";
import { createEventLog } from "../events/event-log.ts";
import { gatewayRoutes } from "../http/gateway/gateway.ts";
import { registerAdapterRoutes } from "../http/routes/adapters.ts";
import { registerApprovalRoutes } from "../http/routes/approvals.ts";
import { registerCallbackRoutes } from "../http/routes/callbacks.ts";
import { registerDispatchRoute } from "../http/routes/dispatch.ts";
import { registerHealthRoutes } from "../http/routes/health.ts";
import { registerMetricsRoute } from "../http/routes/metrics.ts";
import { registerServiceInfoRoute } from "../http/routes/service-info.ts";
import { registerTaskFileRoutes } from "../http/routes/task-files.ts";
import { registerTaskRoutes } from "../http/routes/tasks.ts";
import { workspaceRoutes } from "../http/routes/workspaces.ts";
import { createServer } from "../http/server/create-server.ts";
import { createOverload } from "../http/server/overload.ts";
import { createEventStreams } from "../http/streams/event-stream.ts";
import { eventRoutes } from "../http/streams/events.ts";
import { taskEventRoutes } from "../http/streams/task-events.ts";
import { createHeldBytes } from "../http/wire/held-bytes.ts";
import { createMetrics } from "../metrics.ts";
import { createDestinationGuard } from "../network/destination-guard.ts";
import { createDnsCache } from "../network/dns-cache.ts";
import { createDnsResolver, type Lookup } from "../network/dns-resolver.ts";
import { createGuardedFetch } from "../network/guarded-fetch.ts";
import { limitResponseOverhead } from "../network/limit-response-overhead.ts";
import { createPhaseReader } from "../queries/phase-reader.ts";
import { createTaskReader } from "../queries/task-reader.ts";
import { createSchemaChecker } from "../requests/schema-checker.ts";
import { lockFile } from "../store/lock-file.ts";
import { makeOwnDirectory } from "../store/own-directory.ts";
import { createRetention } from "../store/retention.ts";
import { createFaultLog } from "../store/sqlite/fault-log.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { createBridgeHandler } from "../websocket/bridge-handler.ts";
import { createWebSocketBridgeServer, type WebSocketBridgeServer } from "../websocket/bridge-server.ts";
import { createRunFollower } from "../websocket/follow-run.ts";
import { createOps } from "../websocket/ops.ts";
import { createWorkspaceList } from "../workspaces/list-workspaces.ts";
import { createTaskFiles } from "../workspaces/task-files.ts";
import { createWorkspaces } from "../workspaces/workspace-directories.ts";
import { createWorkspaceFiles } from "../workspaces/workspace-files.ts";

/** A Bridge, put together. */
export interface App {
  server: FastifyInstance;
  /** Listens, deals with what the last stop cut off, and begins to work. Resolves with the address. */
  start(): Promise<string>;
  /** Tells the operator, once, of programs on this machine that could be adapters. Takes seconds; never fails. */
  suggestAdapters(): Promise<void>;
  /** Looks at an error that nobody has caught. True: it came from code that is not Bridge's, and its task has logged it. */
  takeFault(error: unknown): boolean;
  /** Drains, closes every stream, and lets go of everything. */
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What only tests and benches give. */
export interface AppOptions {
  /** Instead of what the configuration names. */
  adapters?: readonly LoadedAdapter[];
  environment?: Environment;
  /** Instead of this machine's name servers. */
  resolve?: Lookup;
  /** Event-loop delay from which on dispatches are refused; 0 is never. */
  maxEventLoopDelayMs?: number;
}

const { version } = packageJson;

/** Puts the parts together; nothing runs before `start`. Locks the data directory first, so that nothing changes while another Bridge uses it. */
export async function createApp(config: Config, logger: Logger, options: AppOptions = {}): Promise<App> {
  const setting = "BRIDGE_DATA_DIR";
  makeOwnDirectory(setting, config.dataDir);
  const releaseLock = lockFile(path.join(config.dataDir, DATA_DIRECTORY_LOCK), { name: "data directory", setting });
  try {
    return await composeApp(config, logger, options, releaseLock);
  } catch (error) {
    releaseLock();
    throw error;
  }
}

/** Differs from the name of every lock of a database, which ends in the name of the database and `.lock`. */
const DATA_DIRECTORY_LOCK = "data-directory.lock";

async function composeApp(config: Config, logger: Logger, options: AppOptions, releaseLock: () => void): Promise<App> {
  const { adapters, environment = process.env, resolve, maxEventLoopDelayMs } = options;
  const { sandbox, noSandbox } = await openSandbox(config, environment);
  const loaded = adapters ?? (await loadAdapters(config.adapters, { ...catalogue, ...acpAgents(config.acpAgents) }));
  const tokens = loadTokens({ config, logger });
  const metrics = createMetrics(version);
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
  const callbackWorker = createCallbackWorker({ store, metrics, logger, dnsCache, config: config.callbacks });

  const stopLimiting = limitResponseOverhead();
  const guard = createDestinationGuard({ allow, dnsCache });
  const guarded = createGuardedFetch(guard);
  const schemas = createSchemaChecker();

  // The registry tells the dispatcher, and the dispatcher asks the registry.
  let dispatcher: Dispatcher;
  const registry = createAdapterRegistry({
    loaded,
    configure: (provider) => ({
      settings: config.adapterSettings[provider] ?? {},
      env: environment,
      dataDir: adapterDirectory(config.dataDir, provider),
      retentionDays: config.retentionDays,
      logger: logger.child({ provider }),
      sandbox,
      fetch: guarded.fetch,
      lookup: operatorDnsCache.lookup,
      runChild: (request) => dispatcher.runChild(request),
      describeProvider: (other) => registry.describe(other),
      listModels: (other) => registry.listModels(other),
      requestApproval: (question) => dispatcher.requestApproval(provider, question),
      onOrphansKilled: (count) => metrics.orphansKilled.inc(count),
    }),
    metrics,
    logger,
    onEvent: (provider, event) => dispatcher.onAdapterEvent(provider, event),
    onChecked: (provider) => dispatcher.onAdapterChecked(provider),
  });
  dispatcher = createDispatcher({
    store,
    eventLog,
    approvals,
    registry,
    workspaces,
    guard,
    schemas,
    metrics,
    logger,
    onCallbackDue: callbackWorker.notify,
    maxConcurrent: config.maxConcurrent,
    queueLimit: config.queueLimit,
    quotaOf: (tenant) => ({ ...config.quota, ...tokens.quotaOf(tenant) }),
    idleSeconds: config.idleSeconds,
    drainSeconds: config.drainSeconds,
    mcpCommands: config.mcpCommands,
    shipped: Object.keys(catalogue),
  });

  const tickets = createTickets();
  // Fastify would tell the address too, before us and in prose.
  const serverLogger = logger.child({}, { level: logger.isLevelEnabled("info") ? "warn" : logger.level });
  const heldBytes = createHeldBytes();
  const overload = createOverload({ ...(maxEventLoopDelayMs !== undefined && { maxDelayMs: maxEventLoopDelayMs }) });
  const server = await createServer({ config, logger: serverLogger, version, tokens, tickets, overload, heldBytes });
  const recovered = Promise.withResolvers<void>();
  // The port opens first, so that the address can be told first; requests wait until the past is dealt with.
  server.addHook("onRequest", () => recovered.promise);
  const eventStreams = createEventStreams({ store, eventLog, heldBytes, metrics, logger });
  server.addHook("preClose", () => eventStreams.closeAll("shutdown"));
  await server.register(fastifySSE);
  const tasks = createTaskReader(store, dispatcher);
  const receiveDispatch = createReceiveDispatch({ dispatcher, registry, metrics, defaultProfile: config.defaultProfile });
  registerDispatchRoute(server, { receiveDispatch, dispatcher, tasks });
  registerTaskRoutes(server, { dispatcher, tasks });
  const workspaceList = createWorkspaceList({ store, workspacesDir: config.workspacesDir });
  await server.register(workspaceRoutes({ workspaces: workspaceList, files: createWorkspaceFiles({ workspaces }) }));
  registerTaskFileRoutes(server, { taskFiles: createTaskFiles({ store, workspaces }) });
  await server.register(taskEventRoutes({ store, eventStreams }));
  await server.register(eventRoutes({ store, eventStreams, tickets }));
  registerCallbackRoutes(server, { callbacks: createCallbacks(store, callbackWorker) });
  registerApprovalRoutes(server, { approvals });
  registerAdapterRoutes(server, { registry, dispatcher });
  await server.register(gatewayRoutes({ registry, dispatcher, logger }));
  registerServiceInfoRoute(server, version);
  registerHealthRoutes(server, { dispatcher, registry, checkWritable: store.checkWritable });
  registerMetricsRoute(server, { metrics, registry, dispatcher, isPublic: config.metricsPublic });

  // Its ops ask the server whether it stops.
  let bridgeServer: WebSocketBridgeServer;
  const ops = createOps({
    receiveDispatch,
    dispatcher,
    tasks,
    follower: createRunFollower({ store, eventLog, logger }),
    phases: createPhaseReader({ store, eventLog, dispatcher }),
    approvals,
    workspaces: workspaceList,
    checkOpen() {
      if (!bridgeServer.running) throw new BridgeError("draining", "Bridge is stopping and accepts no new tasks.");
      if (overload.isOverloaded) throw new BridgeError("overloaded", "Bridge is overloaded; try again later.");
    },
  });
  bridgeServer = createWebSocketBridgeServer({
    handler: createBridgeHandler({ ops, logger }),
    knownOps: ops.map(({ name }) => name),
    isDraining: () => dispatcher.draining,
    frameLimitBytes: config.bodyLimitBytes,
    heldBytes,
    metrics,
    logger,
  });
  await server.register(bridgeServer.routes);
  tokens.onWithdrawn((principal) => {
    tickets.withdraw(principal);
    eventStreams.withdraw(principal);
    bridgeServer.withdraw(principal);
  });
  tokens.onQuotasChanged(dispatcher.onQuotasChanged);
  await server.ready();

  let retention: ReturnType<typeof createRetention> | undefined;
  const closing = new AbortController();
  let started: Promise<string> | undefined;
  async function start(): Promise<string> {
    await server.listen({ host: config.host, port: config.port });
    const address = addressOf(server);
    logger.info(
      { address, docs: `${address}/docs`, version, adapters: loaded.map(({ provider }) => provider), dataDir: config.dataDir },
      "listening",
    );
    if (noSandbox !== null) logger.warn(`BRIDGE_SANDBOX=auto: runtimes are in no sandbox. ${noSandbox}`);
    const labels = await processLabels();
    if (sandbox === null && "missing" in labels) {
      logger.warn({ reason: labels.missing }, "processes that leave their session and clear their environment can outlive their task");
    }
    metrics.orphansKilled.inc((await sweepLeftovers({ dataDir: config.dataDir })).killed);
    const removeEarlier = await workspaces.setAside();
    await dispatcher.recover();
    await bridgeServer.start();
    overload.start();
    recovered.resolve();
    store.checkPages().catch((error: unknown) => logger.warn({ err: error }, "the database could not be checked for damage"));
    void removeEarlier().then((errors) => {
      for (const err of closing.signal.aborted ? [] : errors)
        logger.error({ err }, "a temporary directory of an earlier task cannot be removed");
    });
    callbackWorker.start();
    retention = createRetention({ store, days: config.retentionDays, logger });
    // In the background: a runtime that is slow to answer holds up its own tasks only.
    void registry.start();
    return address;
  }
  let suggested: Promise<void> | undefined;
  async function suggestAdapters(): Promise<void> {
    try {
      const search = { env: environment, directory: path.join(config.dataDir, "programs"), sandbox, signal: closing.signal };
      const programs = await findUnusedPrograms(new Set(loaded.map(({ provider }) => provider)), search);
      if (programs.length === 0 || closing.signal.aborted) return;
      const found = programs.map(({ name, version }) => `${name} ${version}`).join(", ");
      const setting = [...config.adapters, ...programs.map(({ name }) => name)].join(",");
      logger.info({ programs }, `installed here and not enabled: ${found}; to enable: BRIDGE_ADAPTERS=${setting}`);
    } catch (error) {
      logger.debug({ err: error }, "programs on this machine could not be looked for");
    }
  }
  return {
    server,
    start() {
      started = start();
      return started;
    },
    suggestAdapters() {
      suggested = suggestAdapters();
      return suggested;
    },
    takeFault: takeForeignFault,
    async close() {
      closing.abort();
      // A stop may come in the middle of the start, which still needs all that is let go of here.
      await started?.catch(() => {});
      await dispatcher.drain();
      await server.close();
      overload.close();
      tokens.close();
      await retention?.close();
      await registry.close();
      await guarded.close();
      await schemas.close();
      await callbackWorker.close();
      stopLimiting();
      await eventLog.close();
      await store.close();
      await suggested;
      releaseLock();
    },
  };
}

/** The sandbox that the configuration asks for; `noSandbox` says why there is none where one was wanted. */
async function openSandbox(config: Config, env: Environment): Promise<{ sandbox: Sandbox | null; noSandbox: string | null }> {
  if (config.sandbox === "off") return { sandbox: null, noSandbox: null };
  const { dataDir, workspacesDir, databaseFile, tokensFile, secretFiles, adapterSettings, acpAgents } = config;
  const made = await createSandbox({
    env,
    hidden: [dataDir, workspacesDir],
    secrets: [databaseFile, ...(tokensFile === null ? [] : [tokensFile]), ...secretFiles, path.resolve(".env")],
    programs: [path.join(import.meta.dirname, "../.."), ...pathsIn([adapterSettings, acpAgents])],
    directory: path.join(dataDir, "sandbox"),
  });
  if (!("missing" in made)) return { sandbox: made, noSandbox: null };
  if (config.sandbox === "required") throw new StartError(`Bridge cannot start, because BRIDGE_SANDBOX=required: ${made.missing}`);
  return { sandbox: null, noSandbox: made.missing };
}

/** All absolute paths in a setting, at any depth. */
function pathsIn(setting: unknown): string[] {
  if (typeof setting === "string") return path.isAbsolute(setting) ? [setting] : [];
  return typeof setting === "object" && setting !== null ? Object.values(setting).flatMap(pathsIn) : [];
}

/** Where it really listens: Fastify itself names loopback for a host of all interfaces. */
function addressOf(server: FastifyInstance): string {
  const { family, address, port } = server.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

function adapterDirectory(dataDir: string, provider: string): string {
  const directory = path.join(dataDir, "adapters", provider);
  makePrivateDirectory(directory);
  return directory;
}
