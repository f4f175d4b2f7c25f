import type { Logger } from "pino";
import type { AdapterConfig, AdapterEvent, AdapterHealthStatus, ExecutionAdapter, ProviderDescription } from "#contract";
import { adapterEventData, isComposite, isModelLister, isPaced } from "#contract";
import type { Metrics } from "../metrics.ts";
import { createCooldowns } from "./cooldowns.ts";
import { awaitAnswer, createHealthChecks, createOfflineHealth, type HealthChecks } from "./health-checks.ts";

/** A loaded adapter, or the reason why it could not be loaded. */
export type LoadedAdapter = { provider: string; adapter: ExecutionAdapter } | { provider: string; adapter: null; reason: string };

/** Health with the time of its check, in ms since the epoch; null until the first check has ended. */
type KnownHealth = AdapterHealthStatus & { checkedAt: number | null };

/** An adapter with its last known health. */
export interface RegisteredAdapter {
  provider: string;
  /** Null if it could not be loaded; then it is listed as offline. */
  adapter: ExecutionAdapter | null;
  health: KnownHealth;
}

/** The adapters of this Bridge with the last known health of each. */
export type AdapterRegistry = ReturnType<typeof createAdapterRegistry>;

interface RegistryOptions {
  loaded: readonly LoadedAdapter[];
  metrics: Metrics;
  logger: Logger;
  checkIntervalMs?: number;
  /** Time limit of a check, of the initialization and of the shutdown of an adapter. */
  checkLimitMs?: number;
}

/** Configures the adapters, and receives their events and the ends of their health checks. */
export interface AdapterHost {
  configure(provider: string): AdapterConfig;
  onEvent(provider: string, event: AdapterEvent): void;
  /** Called after each health check, also when the health has not changed. */
  onChecked(provider: string): void;
  /** Called when an adapter goes offline, and when its first check finds it offline. */
  onOffline(provider: string): void;
  /** Called when an adapter is no longer offline, and when its first check finds it available. */
  onAvailable(provider: string): void;
}

const CHECK_INTERVAL_MS = 5 * 60_000;
/** Minimum time after a check before a failed task triggers another one, so that a burst of failures triggers one check. */
const SUSPECT_PAUSE_MS = 15_000;
/** Minimum time after a check before a client triggers another one. */
const RECENT_CHECK_MS = 2_000;
/**
 * Time limit to list the models of a runtime. Some programs need seconds, and longer on a busy machine; the callers can wait for minutes.
 */
const LIST_LIMIT_MS = 20_000;

interface Entry extends RegisteredAdapter {
  /** Null until the start, and for an adapter that could not be loaded. */
  checks: HealthChecks | null;
  /** The time of the last check. It is monotonic, because the system clock can be set back. */
  checkedAtMs: number;
}

/** Initializes adapters and checks their health regularly. A faulty adapter does not affect the others. */
export function createAdapterRegistry(options: RegistryOptions) {
  const { loaded, metrics, logger, checkIntervalMs = CHECK_INTERVAL_MS, checkLimitMs } = options;
  const entries = new Map(loaded.map((adapter) => [adapter.provider, createEntry(adapter)]));
  const cooldowns = createCooldowns();
  /** Null until the start. */
  let host: AdapterHost | null = null;

  /** An adapter that fails here is offline, like one that could not be loaded. */
  function subscribe(entry: Entry): void {
    try {
      entry.adapter?.onEvent?.((event) => receive(entry.provider, event));
    } catch (error) {
      entry.adapter = null;
      entry.health = { ...createOfflineHealth(error), checkedAt: null };
    }
  }

  function receive(provider: string, event: AdapterEvent): void {
    const fault = findFault(event);
    if (fault === null) host?.onEvent(provider, event);
    else metrics.eventsDropped.inc({ provider, reason: fault });
  }

  function startChecks(entry: Entry, { configure }: AdapterHost): void {
    const { provider, adapter } = entry;
    if (adapter === null) {
      setHealth(entry, entry.health);
      return;
    }
    entry.checks = createHealthChecks(adapter, {
      initialize: () => adapter.initialize(configure(provider)),
      onChecked: (health) => setHealth(entry, health),
      intervalMs: checkIntervalMs,
      limitMs: checkLimitMs,
    });
  }

  function setHealth(entry: Entry, health: AdapterHealthStatus): void {
    const hasChanged = entry.health.checkedAt === null || entry.health.status !== health.status;
    const wasOffline = entry.health.checkedAt === null || entry.health.status === "offline";
    entry.health = { ...health, checkedAt: Date.now() };
    entry.checkedAtMs = performance.now();
    metrics.adapterUp.set({ provider: entry.provider }, { healthy: 1, degraded: 0.5, offline: 0 }[health.status]);
    if (hasChanged) logHealth(logger, entry.provider, health);
    host?.onChecked(entry.provider);
    if (hasChanged && health.status === "offline") host?.onOffline(entry.provider);
    else if (wasOffline && health.status !== "offline") host?.onAvailable(entry.provider);
    if (hasChanged) for (const composite of listCompositesOf(entry.provider)) void composite.checks?.checkAgain();
  }

  const listCompositesOf = (provider: string): Entry[] =>
    [...entries.values()].filter(({ adapter }) => isComposite(adapter) && adapter.providers.includes(provider));

  return {
    list: (): readonly RegisteredAdapter[] => [...entries.values()],
    get: (provider: string): RegisteredAdapter | undefined => entries.get(provider),
    /** Describes an adapter to other adapters. Returns null if it is not loaded. */
    describe(provider: string): ProviderDescription | null {
      const entry = entries.get(provider);
      return entry === undefined || entry.adapter === null ? null : describeAdapter(entry.adapter, entry.health);
    },
    /** Returns why an adapter could not be loaded. Returns null if it is loaded or not configured. */
    findLoadFailure(provider: string): string | null {
      const entry = entries.get(provider);
      return entry?.adapter === null ? entry.health.detail : null;
    },
    cooldowns,
    /** Resolves to null if the models are unknown, or not known in time. */
    listModels: (provider: string): Promise<readonly string[] | null> => listModels(entries.get(provider), logger),
    /** Initializes every adapter and checks it for the first time; resolves when every check has ended or timed out. */
    async start(adapterHost: AdapterHost): Promise<void> {
      host = adapterHost;
      for (const entry of entries.values()) subscribe(entry);
      for (const entry of entries.values()) startChecks(entry, adapterHost);
      await Promise.all([...entries.values()].map(({ checks }) => checks?.check()));
      // The first checks of other adapters have caused further checks of the composite ones.
      await Promise.all([...entries.values()].map(({ checks }) => checks?.settled()));
    },
    /** Checks an adapter in the background, because a task failed for a reason of the runtime or could not be accepted. */
    suspect(provider: string): void {
      const entry = entries.get(provider);
      if (entry !== undefined && performance.now() - entry.checkedAtMs >= SUSPECT_PAUSE_MS) void entry.checks?.check();
    },
    /**
     * Checks an adapter now, and resolves with its health; undefined if it is not configured. Joins a check that is running, and repeats no
     * check that has ended just now, so that callers cannot keep a runtime busy. An adapter that could not be loaded is not checked.
     */
    async checkNow(provider: string): Promise<RegisteredAdapter | undefined> {
      const entry = entries.get(provider);
      if (entry !== undefined && performance.now() - entry.checkedAtMs >= RECENT_CHECK_MS) await entry.checks?.check();
      return entry;
    },
    /** Estimates the seconds until the next check of an adapter has ended; null if none is planned. */
    estimateSecondsToNextCheck: (provider: string): number | null => entries.get(provider)?.checks?.estimateSecondsToNext() ?? null,
    async close(): Promise<void> {
      await Promise.allSettled([...entries.values()].map(({ checks }) => checks?.close()));
    },
  };
}

async function listModels(entry: Entry | undefined, logger: Logger): Promise<readonly string[] | null> {
  if (entry === undefined || !isModelLister(entry.adapter)) return null;
  try {
    return await awaitAnswer(LIST_LIMIT_MS, entry.adapter.listModels());
  } catch (error) {
    logger.info({ err: error, provider: entry.provider }, "failed to list the models of a runtime");
    return null;
  }
}

/** Returns why an event of an adapter is dropped; null if it is valid. */
function findFault(event: AdapterEvent): "kind" | "data" | null {
  const schema = Object.hasOwn(adapterEventData, event?.type) ? adapterEventData[event.type] : undefined;
  if (schema === undefined || typeof event.taskId !== "string") return "kind";
  return schema.safeParse(event.data).success ? null : "data";
}

function logHealth(logger: Logger, provider: string, { status, detail, version }: AdapterHealthStatus): void {
  logger[status === "offline" ? "warn" : "info"]({ provider, health: status, detail, version }, "adapter health");
}

function createEntry(loaded: LoadedAdapter): Entry {
  const health =
    loaded.adapter === null
      ? createOfflineHealth(loaded.reason)
      : { ...createOfflineHealth("The first check is under way."), status: "degraded" as const };
  return {
    ...{ provider: loaded.provider, adapter: loaded.adapter },
    health: { ...health, checkedAt: null },
    checks: null,
    checkedAtMs: Number.NEGATIVE_INFINITY,
  };
}

const describeAdapter = (adapter: ExecutionAdapter, health: AdapterHealthStatus): ProviderDescription => ({
  health: health.status,
  connection: health.connection,
  path: health.path ?? null,
  detail: health.detail,
  capabilities: adapter.capabilities(),
  timeoutMultiplier: isPaced(adapter) ? adapter.timeoutMultiplier : 1,
});
