import path from "node:path";
import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import type { Logger } from "pino";
import { type Catalog, settingsKey } from "#contract";
import type { Tokens } from "../access/tokens.ts";
import { createApprovals } from "../approvals/approvals.ts";
import { createAttention } from "../attention/attention.ts";
import { type CallbackWorker, createCallbackWorker } from "../callbacks/callback-worker.ts";
import { type ClusterView, createClusterView, createLoneView } from "../cluster/cluster-view.ts";
import { createMembership } from "../cluster/membership.ts";
import { createLoneDirectory, createNodeDirectory } from "../cluster/node-directory.ts";
import { loadNodeIdentity } from "../cluster/node-identity.ts";
import type { Config } from "../config/config.ts";
import { createDispatcher, type Dispatcher } from "../dispatch/dispatcher.ts";
import { createAdapterLogger } from "../dispatch/run/adapter-logger.ts";
import { createEventLog, type EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { Lookup } from "../network/dns-resolver.ts";
import { type AdapterRegistry, createAdapterRegistry, type LoadedAdapter } from "../registry/adapter-registry.ts";
import { createAvailableAdapters } from "../registry/available-adapters.ts";
import { createSchemaChecker } from "../requests/schema-checker.ts";
import { createFaultLog } from "../store/engines/sqlite/fault-log.ts";
import type { ClusterStore, Hint, NodeIdentity } from "../store/nodes/interface.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { formatTraceparent, type TracedTask } from "../trace-context.ts";
import { createProviderTraits } from "../traces/describe-providers.ts";
import { type OpenedTraces, openTraces } from "../traces/open-traces.ts";
import { createTraceExporter, type TraceExporter } from "../traces/trace-exporter.ts";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks.ts";
import { createWorkspaces } from "../workspaces/workspace-directories.ts";
import { describeAdapters, describeNode } from "./describe-node.ts";
import { createNetwork } from "./network.ts";
import { createRunGit } from "./run-git.ts";
import type { Environment, OpenedSandbox } from "./sandbox.ts";
import { createSettingsDigest } from "./settings-digest.ts";

/** Maximum time between two searches for due callbacks among several nodes, because a hint of another node can be lost. */
const MAX_SLEEP_AMONG_NODES_MS = 5_000;

/** Options of the engine that are not part of the configuration. */
interface EngineOptions {
  loaded: readonly LoadedAdapter[];
  /** The adapters that can be enabled, for error messages. */
  catalog: Catalog;
  environment: Environment;
  sandbox: OpenedSandbox;
  /** Replaces the name servers of this machine; for tests. */
  resolve: Lookup | undefined;
  tokens: Pick<Tokens, "quotaOf" | "describe">;
  metrics: Metrics;
  logger: Logger;
  version: string;
  /** Called when Bridge must stop, because other nodes have declared this one dead. */
  onExpelled(): void;
  /** Called when an operator has asked this node to drain and to exit, maybe several times. */
  onDrainRequested(): void;
}

/** Stands for this process with SQLite, which has no other nodes. */
const ONLY_NODE: NodeIdentity = { id: "", incarnation: "", home: "" };

/** The parts that accept, run and store tasks and deliver callbacks. */
export type Engine = Awaited<ReturnType<typeof createEngine>>;

/** Opens the store and creates the engine on it. No task runs before `startAdapters`. */
export async function createEngine(
  config: Config,
  { loaded, catalog, environment, sandbox, resolve, tokens, metrics, logger, version, onExpelled, onDrainRequested }: EngineOptions,
) {
  const logFault = createFaultLog({ file: config.databaseFile, logger });
  const node = config.databaseUrl === null ? ONLY_NODE : loadNodeIdentity(config.dataDir);
  const { store, cluster, onHint, rates } = await openStore({
    databaseFile: config.databaseFile,
    databaseUrl: config.databaseUrl,
    databaseListenUrl: config.databaseListenUrl,
    delivers: config.delivers,
    migrates: config.migrate === "auto",
    node,
    onFault(error) {
      metrics.storageFaults.inc();
      logFault(error);
    },
    onTailLag: (events) => metrics.tailLag.set(events),
  });
  const eventLog = createEventLog({ store, metrics, logger });
  const opened = config.traces === null ? null : await openTraces(config.traces, { version, node: config.node.name, logger });
  const runTraceparent = createRunTraceparent(opened);
  const approvals = createApprovals({ store, eventLog, metrics, logger, runTraceparent, seconds: config.approvalSeconds });
  const workspaces = createWorkspaces(config);

  const { dnsCache, operatorDnsCache, guard, guardedFetch } = createNetwork({ allow: config.callbacks.allow, resolve });
  const callbackWorker = createCallbackWorker({
    ...{ store, metrics, logger, dnsCache, config: config.callbacks, hasSpans: config.traces !== null },
    // With SQLite, no other process stores callbacks.
    ...(config.databaseUrl !== null && { maxSleepMs: MAX_SLEEP_AMONG_NODES_MS }),
  });
  const webhooks = createWebhooks({
    ...{ store, eventLog, metrics, logger, dnsCache: operatorDnsCache, config: config.callbacks, delivers: config.delivers },
    file: config.webhooksFile,
    publicUrl: config.publicUrl ?? "",
    node: config.node.name,
    checkUrl: guard.checkUrl,
    ...(config.databaseUrl !== null && { maxSleepMs: MAX_SLEEP_AMONG_NODES_MS }),
  });

  const traces = createTraces(config, opened, { store, eventLog, catalog, node, metrics, logger });

  const schemas = createSchemaChecker();
  const registry = createAdapterRegistry({ loaded, metrics, logger });
  const graceMs = config.node.graceSeconds * 1000;
  const self = { id: node.id, ...config.node };
  const view = cluster === null ? createLoneView(self) : createClusterView({ self, cluster, graceMs, logger });
  // With SQLite, no other node could run the tasks.
  const hasSlots = (provider: string): boolean => cluster === null || config.maxConcurrent(provider) > 0;
  const adapters = createAvailableAdapters(registry, view, hasSlots);
  const attention = createAttention({ store, registry, adapters, webhooks, logger });
  const dispatcher = createDispatcher({
    ...{ store, adapters, view, cluster, eventLog, approvals, registry, workspaces, guard, schemas, metrics, logger },
    nodeGraceMs: graceMs,
    maxConcurrent: config.maxConcurrent,
    queueLimit: config.queueLimit,
    quotaOf: (tenant) => ({ ...config.quota, ...tokens.quotaOf(tenant) }),
    idleSeconds: config.idleSeconds,
    drainSeconds: config.drainSeconds,
    mcpCommands: config.mcpCommands,
    runTraceparent,
    catalogProviders: catalog.map(settingsKey),
  });

  view.onRead(dispatcher.onNodesRead);
  view.onRead(() => {
    if (view.nodes().some(({ id, state }) => id === node.id && state === "draining")) onDrainRequested();
  });
  onHint(createHintHandler({ metrics, view, webhooks, traces, callbackWorker, dispatcher }));

  const report = { describeAdapters: () => describeAdapters(registry, dispatcher), isDraining: () => dispatcher.draining };
  // A lone Bridge has no settings to compare.
  const lone = describeNode(config, version, "");
  const nodes = cluster === null ? createLoneDirectory(lone, report) : createNodeDirectory(cluster, view, report);
  const describeFiles = () => [tokens.describe(), webhooks.describe()];
  const parts = { cluster, registry, dispatcher, describeFiles, metrics, logger, version, onExpelled };
  const membership = await createOwnMembership(config, parts);

  /** Initializes the adapters and reports their events to the dispatcher. Resolves when every adapter has been checked once. */
  const startAdapters = (): Promise<void> =>
    registry.start({
      configure: (provider) => ({
        settings: config.adapterSettings[provider] ?? {},
        env: environment,
        dataDir: makeAdapterDirectory(config.dataDir, provider),
        filesDir: makeAdapterDirectory(config.filesDir, provider),
        retentionDays: config.retentionDays,
        logger: createAdapterLogger(logger.child({ provider }), (taskId) => dispatcher.findTraceparent(provider, taskId)),
        sandbox: sandbox.sandbox,
        sandboxFault: sandbox.missing,
        fetch: guardedFetch.fetch,
        lookup: operatorDnsCache.lookup,
        runChild: dispatcher.runChild,
        describeProvider: registry.describe,
        findLoadFailure: registry.findLoadFailure,
        listModels: registry.listModels,
        requestApproval: (question) => dispatcher.requestApproval(provider, question),
        onOrphansKilled: (count) => metrics.orphansKilled.inc(count),
      }),
      onEvent: dispatcher.onAdapterEvent,
      onChecked: dispatcher.onAdapterChecked,
      onOffline: webhooks.onAdapterOffline,
      onAvailable: (provider) => void attention.onAdapterAvailable(provider),
    });

  return {
    ...{ store, cluster, membership, view, nodes, adapters, onHint, rates, eventLog, approvals, workspaces },
    ...{ guardedFetch, callbackWorker, webhooks, attention, traces, schemas, registry, dispatcher, startAdapters },
    runGit: createRunGit({ environment, sandbox: sandbox.sandbox }),
  };
}

/** Creates the function that passes the hints of other nodes to the parts that they concern. */
function createHintHandler({ metrics, view, webhooks, traces, callbackWorker, dispatcher }: HintedParts) {
  return (hint: Hint): void => {
    metrics.hints.inc({ kind: hint.split(":", 1)[0] as string });
    if (hint === "nodes") void view.refresh();
    else if (hint === "events") {
      webhooks.onForeignEvents();
      traces?.onForeignEvents();
    } else if (hint === "deliveries") webhooks.onDeliveriesReleased();
    else if (hint.startsWith("callbacks:")) callbackWorker.searchSoon();
    else if (hint.startsWith("queue:")) dispatcher.onQueueHint(hint.slice("queue:".length));
  };
}

interface HintedParts extends Pick<EngineOptions, "metrics"> {
  view: ClusterView;
  webhooks: Webhooks;
  traces: TraceExporter | null;
  callbackWorker: CallbackWorker;
  dispatcher: Dispatcher;
}

/** Creates the exporter of traces; null without traces. */
function createTraces(config: Config, opened: OpenedTraces | null, { catalog, node, ...parts }: TraceParts): TraceExporter | null {
  if (config.traces === null || opened === null) return null;
  return createTraceExporter({
    ...{ ...parts, ...opened, content: config.traces.content, traitsOf: createProviderTraits(catalog) },
    // A process that starts again does not wait for the claim of its predecessor.
    holder: node.id,
  });
}

interface TraceParts extends Pick<EngineOptions, "catalog" | "metrics" | "logger"> {
  store: Store;
  eventLog: EventLog;
  node: NodeIdentity;
}

/** Without traces, what a task starts belongs to the trace of the caller, if there is one. */
const createRunTraceparent =
  (opened: OpenedTraces | null) =>
  (task: TracedTask): string | null =>
    opened === null ? task.traceparent : formatTraceparent(task, opened.isSampled(task));

function makeAdapterDirectory(dataDir: string, provider: string): string {
  const directory = path.join(dataDir, "adapters", provider);
  makePrivateDirectory(directory);
  return directory;
}

interface OwnMembershipOptions extends Pick<EngineOptions, "metrics" | "logger" | "version" | "onExpelled"> {
  cluster: ClusterStore | null;
  registry: AdapterRegistry;
  dispatcher: Dispatcher;
  /** Describes the tokens and the webhooks. */
  describeFiles(): unknown;
}

/** Creates the membership of this process, which stops its tasks when it ends. Null with SQLite. */
async function createOwnMembership(
  config: Config,
  { cluster, registry, dispatcher, describeFiles, version, onExpelled, ...tools }: OwnMembershipOptions,
) {
  if (cluster === null) return null;
  const digest = await createSettingsDigest(config, describeFiles);
  return createMembership({
    ...tools,
    cluster,
    node: describeNode(config, version, digest.current()),
    report: () => ({ settingsDigest: digest.current(), adapters: describeAdapters(registry, dispatcher) }),
    onLost: dispatcher.interrupt,
    onRegained: dispatcher.resume,
    onExpelled() {
      dispatcher.interrupt("The node lost its database, and other nodes declared it dead.");
      onExpelled();
    },
    endTasksOf: dispatcher.endTasksOf,
  });
}
