import type { Logger } from "pino";
import { type Catalog, findEntry, settingsKey } from "#contract";
import type { Tokens } from "../access/tokens.ts";
import { createApprovals } from "../approvals/approvals.ts";
import { createAttention } from "../attention/attention.ts";
import { type Budgets, createBudgets } from "../budgets/budgets.ts";
import { type CallbackWorker, createCallbackWorker } from "../callbacks/callback-worker.ts";
import type { ClusterView } from "../cluster/cluster-view.ts";
import type { Config } from "../config/config.ts";
import { createDispatcher, type Dispatcher } from "../dispatch/dispatcher.ts";
import { createEventLog, type EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { Lookup } from "../network/dns-resolver.ts";
import { createPricing } from "../pricing/pricing.ts";
import { createAdapterRegistry, type LoadedAdapter } from "../registry/adapter-registry.ts";
import { createAvailableAdapters } from "../registry/available-adapters.ts";
import { createSchemaChecker } from "../requests/schema-checker.ts";
import { createFaultLog } from "../store/engines/sqlite/faults.ts";
import type { Hint } from "../store/nodes/interface.ts";
import type { Store } from "../store/store.ts";
import { formatTraceparent, type TracedTask } from "../trace-context.ts";
import { createProviderTraits } from "../traces/describe-providers.ts";
import { type OpenedTraces, openTraces } from "../traces/open-traces.ts";
import { createTraceExporter, type TraceExporter } from "../traces/trace-exporter.ts";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks.ts";
import { createWorkspaces } from "../workspaces/workspace-directories.ts";
import { createConfigureAdapter } from "./configure-adapter.ts";
import { describeAdapters } from "./describe-node.ts";
import { createNetwork } from "./network.ts";
import { openDatabase } from "./open-database.ts";
import { createTreeSweep, openRepositories } from "./open-repositories.ts";
import { createRunGit } from "./run-git.ts";
import type { Environment, OpenedSandbox } from "./sandbox.ts";
import { createSettingsDigest } from "./settings-digest.ts";

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

/** The parts that accept, run and store tasks and deliver callbacks. */
export type Engine = Awaited<ReturnType<typeof createEngine>>;

/** Opens the store and creates the engine on it. No task runs before `startAdapters`. */
export async function createEngine(
  config: Config,
  { loaded, catalog, environment, sandbox, resolve, tokens, metrics, logger, version, onExpelled, onDrainRequested }: EngineOptions,
) {
  const logFault = createFaultLog({ file: config.databaseFile, logger });
  const onFault = (error: unknown): void => {
    metrics.storageFaults.inc();
    logFault(error);
  };
  const { store, cluster, shareQueue, sharedRates, forwarding } = await openDatabase(config, { onFault, metrics, logger, version });
  const { view } = cluster;
  const eventLog = createEventLog({ store, metrics, logger });
  const opened = config.traces === null ? null : await openTraces(config.traces, { version, node: config.node.name, logger });
  const runTraceparent = createRunTraceparent(opened);
  const approvals = createApprovals({ store, eventLog, metrics, logger, runTraceparent, seconds: config.approvalSeconds });
  const workspaces = createWorkspaces(config);

  const { dnsCache, operatorDnsCache, guard, guardedFetch } = createNetwork({ allow: config.callbacks.allow, resolve });
  const callbackWorker = createCallbackWorker({
    ...{ store, metrics, logger, dnsCache, config: config.callbacks, hasSpans: config.traces !== null },
    maxSleepMs: cluster.searchMs,
  });
  const webhooks = createWebhooks({
    ...{ store, eventLog, metrics, logger, dnsCache: operatorDnsCache, config: config.callbacks, delivers: config.delivers },
    file: config.webhooksFile,
    publicUrl: config.publicUrl ?? "",
    node: config.node.name,
    checkUrl: guard.checkUrl,
    maxSleepMs: cluster.searchMs,
  });

  const traces = createTraces(config, opened, { store, eventLog, catalog, holder: view.self.id, metrics, logger });

  const budgets = createBudgets({
    ...{ store, logger, file: config.budgetsFile, reserveUsd: config.budgetReserveUsd },
    onAdjusted: webhooks.onBudgetAdjusted,
  });
  const runGit = createRunGit({ environment, sandbox: sandbox.sandbox });
  const repositories = openRepositories(config, { environment, sandbox, runGit, workspaces, logger });
  const schemas = createSchemaChecker();
  const registry = createAdapterRegistry({ loaded, metrics, logger });
  const adapters = createAvailableAdapters(registry, view, (provider) => config.maxConcurrent(provider) > 0);
  const attention = createAttention({ store, registry, adapters, webhooks, logger });
  const dispatcher = createDispatcher({
    ...{ store, adapters, view, shareQueue, eventLog, approvals, registry, workspaces, repositories, guard, schemas, metrics, logger },
    maxConcurrent: config.maxConcurrent,
    queueLimit: config.queueLimit,
    quotaOf: (tenant) => ({ ...config.quota, ...tokens.quotaOf(tenant) }),
    idleSeconds: config.idleSeconds,
    drainSeconds: config.drainSeconds,
    mcpCommands: config.mcpCommands,
    runTraceparent,
    pricing: createPricing(config.modelPrices, logger),
    budgets,
    vendorOf: (provider) => findEntry(catalog, provider)?.vendor,
    catalogProviders: catalog.map(settingsKey),
  });

  view.onRead(dispatcher.onNodesRead);
  view.onRead(() => {
    if (view.nodes().some(({ id, state }) => id === view.self.id && state === "draining")) onDrainRequested();
  });
  cluster.onHint(createHintHandler({ metrics, view, webhooks, traces, callbackWorker, budgets, dispatcher }));

  const status = { describeAdapters: () => describeAdapters(registry, dispatcher), isDraining: () => dispatcher.draining };
  const nodes = cluster.createDirectory(status);
  const membership = await cluster.createMembership({
    ...status,
    digestSettings: () =>
      createSettingsDigest(config, () => [tokens.describe(), webhooks.describe(), budgets.describe(), repositories.describe()]),
    onLost: dispatcher.interrupt,
    onRegained: dispatcher.resume,
    onExpelled() {
      dispatcher.interrupt("The node lost its database, and other nodes declared it dead.");
      onExpelled();
    },
    endTasksOf: dispatcher.endTasksOf,
  });

  const adapterParts = { registry, dispatcher, environment, sandbox, fetch: guardedFetch.fetch, lookup: operatorDnsCache.lookup };
  const configure = createConfigureAdapter(config, { ...adapterParts, metrics, logger });

  /** Initializes the adapters and reports their events to the dispatcher. Resolves when every adapter has been checked once. */
  const startAdapters = (): Promise<void> =>
    registry.start({
      configure,
      onEvent: dispatcher.onAdapterEvent,
      onChecked: dispatcher.onAdapterChecked,
      onOffline: webhooks.onAdapterOffline,
      onAvailable: (provider) => void attention.onAdapterAvailable(provider),
    });

  return {
    ...{ store, sharedRates, forwarding, membership, view, nodes, adapters, eventLog, approvals, workspaces, repositories },
    ...{ guardedFetch, callbackWorker, webhooks, budgets, attention, traces, schemas, registry, dispatcher, startAdapters, runGit },
    treeSweep: createTreeSweep({ store, repositories }),
  };
}

/** Creates the function that passes the hints of other nodes to the parts that they concern. */
function createHintHandler({ metrics, view, webhooks, traces, callbackWorker, budgets, dispatcher }: HintedParts) {
  return (hint: Hint): void => {
    metrics.hints.inc({ kind: hint.split(":", 1)[0] as string });
    if (hint === "nodes") void view.refresh();
    else if (hint === "events") {
      webhooks.onForeignEvents();
      traces?.onForeignEvents();
    } else if (hint === "budgets") budgets.onForeignRoom();
    else if (hint === "deliveries") webhooks.onDeliveriesReleased();
    else if (hint.startsWith("callbacks:")) callbackWorker.searchSoon();
    else if (hint.startsWith("queue:")) dispatcher.onQueueHint(hint.slice("queue:".length));
  };
}

interface HintedParts extends Pick<EngineOptions, "metrics"> {
  view: ClusterView;
  webhooks: Webhooks;
  traces: TraceExporter | null;
  callbackWorker: CallbackWorker;
  budgets: Budgets;
  dispatcher: Dispatcher;
}

/** Creates the exporter of traces; null without traces. */
function createTraces(config: Config, opened: OpenedTraces | null, { catalog, ...parts }: TraceParts): TraceExporter | null {
  if (config.traces === null || opened === null) return null;
  return createTraceExporter({
    ...{ ...parts, ...opened, content: config.traces.content, traitsOf: createProviderTraits(catalog) },
  });
}

interface TraceParts extends Pick<EngineOptions, "catalog" | "metrics" | "logger"> {
  store: Store;
  eventLog: EventLog;
  /** The id of this node: a process that starts again does not wait for the claim of its predecessor. */
  holder: string;
}

/** Without traces, what a task starts belongs to the trace of the caller, if there is one. */
const createRunTraceparent =
  (opened: OpenedTraces | null) =>
  (task: TracedTask): string | null =>
    opened === null ? task.traceparent : formatTraceparent(task, opened.isSampled(task));
