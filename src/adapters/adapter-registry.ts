import { withTimeout } from "@hak2i/async-kit";
import pRetry from "p-retry";
import type { Logger } from "pino";
import type { AdapterConfig, AdapterEvent, AdapterHealthStatus, ExecutionAdapter, ProviderDescription } from "#contract";
import { adapterEventData, isModelLister, isPaced } from "#contract";
import type { Metrics } from "../metrics.ts";

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
}

/** Configures the adapters and receives what they report. */
export interface AdapterHost {
  configure(provider: string): AdapterConfig;
  onEvent(provider: string, event: AdapterEvent): void;
  /** Called after each health check, also when the health has not changed. */
  onChecked(provider: string): void;
}

const CHECK_INTERVAL_MS = 5 * 60_000;
/** Time limit of a health check, of the initialization and of the shutdown of an adapter. */
const CHECK_LIMIT_MS = 15_000;
/** Minimum time between a check and one that a failure causes, so that a burst of failures causes one check. */
const SUSPECT_PAUSE_MS = 15_000;
/** Delay of the next check of an adapter that is offline. It doubles with each check, up to CHECK_INTERVAL_MS. */
const OFFLINE_PAUSE_MS = 15_000;
/** Estimated duration of a check. */
const USUAL_CHECK_MS = 5_000;
/** Some programs need seconds to list their models, and more on a busy machine; the callers have minutes. */
const LIST_LIMIT_MS = 20_000;

interface Entry extends RegisteredAdapter {
  initializing: Promise<void> | null;
  initialized: boolean;
  checking: Promise<void> | null;
  /** Consecutive checks that found it offline. */
  timesOffline: number;
  next: { timer: NodeJS.Timeout; at: number } | null;
}

/** Initializes adapters and checks their health regularly. A faulty adapter does not affect the others. */
export function createAdapterRegistry({ loaded, metrics, logger, checkIntervalMs = CHECK_INTERVAL_MS }: RegistryOptions) {
  const entries = new Map<string, Entry>();
  for (const one of loaded) {
    const health =
      one.adapter === null ? offline(one.reason) : { ...offline("The first check is under way."), status: "degraded" as const };
    entries.set(one.provider, {
      provider: one.provider,
      adapter: one.adapter,
      health: { ...health, checkedAt: null },
      initializing: null,
      initialized: false,
      checking: null,
      timesOffline: 0,
      next: null,
    });
  }
  /** Null until the start. */
  let host: AdapterHost | null = null;
  let closed = false;

  /** An adapter that fails here is offline, like one that could not be loaded. */
  function subscribe(entry: Entry): void {
    try {
      entry.adapter?.onEvent?.((event) => receive(entry.provider, event));
    } catch (error) {
      entry.adapter = null;
      entry.health = { ...offline(error instanceof Error ? error.message : String(error)), checkedAt: null };
    }
  }

  function receive(provider: string, event: AdapterEvent): void {
    const schema = Object.hasOwn(adapterEventData, event?.type) ? adapterEventData[event.type] : undefined;
    if (schema === undefined || typeof event.taskId !== "string") metrics.eventsDropped.inc({ provider, reason: "kind" });
    else if (!schema.safeParse(event.data).success) metrics.eventsDropped.inc({ provider, reason: "data" });
    else host?.onEvent(provider, event);
  }

  function check(provider: string): Promise<void> {
    const entry = entries.get(provider);
    if (entry === undefined || entry.adapter === null || host === null || closed) return Promise.resolve();
    const { adapter } = entry;
    const { configure } = host;
    entry.checking ??= (async () => {
      try {
        entry.initializing ??= initialize(entry, adapter, configure);
        await within(CHECK_LIMIT_MS, entry.initializing);
        setHealth(entry, await within(CHECK_LIMIT_MS, adapter.checkHealth()));
      } catch (error) {
        setHealth(entry, offline(error instanceof Error ? error.message : String(error)));
      } finally {
        entry.checking = null;
        scheduleNext(entry);
      }
    })();
    return entry.checking;
  }

  /** A runtime that was offline may start or be installed later. */
  function scheduleNext(entry: Entry): void {
    clearTimeout(entry.next?.timer);
    entry.next = null;
    if (closed) return;
    entry.timesOffline = entry.health.status === "offline" ? entry.timesOffline + 1 : 0;
    const pauseMs =
      entry.timesOffline === 0 ? checkIntervalMs : Math.min(OFFLINE_PAUSE_MS * 2 ** (entry.timesOffline - 1), checkIntervalMs);
    const timer = setTimeout(() => void check(entry.provider), pauseMs);
    timer.unref();
    entry.next = { timer, at: Date.now() + pauseMs };
  }

  /** Runs once at a time: the next check awaits an initialization that takes longer than a check, and repeats one that fails. */
  async function initialize(entry: Entry, adapter: ExecutionAdapter, configure: AdapterHost["configure"]): Promise<void> {
    try {
      await pRetry(() => adapter.initialize(configure(entry.provider)), { retries: 2, minTimeout: 200 });
      entry.initialized = true;
    } catch (error) {
      entry.initializing = null;
      throw error;
    }
  }

  function setHealth(entry: RegisteredAdapter, health: AdapterHealthStatus): void {
    const hasChanged = entry.health.checkedAt === null || entry.health.status !== health.status;
    entry.health = { ...health, checkedAt: Date.now() };
    metrics.adapterUp.set({ provider: entry.provider }, { healthy: 1, degraded: 0.5, offline: 0 }[health.status]);
    if (hasChanged) {
      const level = health.status === "offline" ? "warn" : "info";
      logger[level]({ provider: entry.provider, health: health.status, detail: health.detail, version: health.version }, "adapter health");
    }
    host?.onChecked(entry.provider);
  }

  return {
    list: (): readonly RegisteredAdapter[] => [...entries.values()],
    get: (provider: string): RegisteredAdapter | undefined => entries.get(provider),
    /** Describes an adapter to other adapters. Returns null if it is not loaded. */
    describe(provider: string): ProviderDescription | null {
      const entry = entries.get(provider);
      if (entry === undefined || entry.adapter === null) return null;
      const { adapter, health } = entry;
      return {
        health: health.status,
        connection: health.connection,
        detail: health.detail,
        capabilities: adapter.capabilities(),
        timeoutMultiplier: isPaced(adapter) ? adapter.timeoutMultiplier : 1,
      };
    },
    /** Resolves to null if the models are unknown, or not known in time. */
    async listModels(provider: string): Promise<readonly string[] | null> {
      const adapter = entries.get(provider)?.adapter;
      if (!isModelLister(adapter)) return null;
      try {
        return await within(LIST_LIMIT_MS, adapter.listModels());
      } catch (error) {
        logger.info({ err: error, provider }, "failed to list the models of a runtime");
        return null;
      }
    },
    /** Initializes every adapter and checks it for the first time; resolves when every check has ended or timed out. */
    async start(adapterHost: AdapterHost): Promise<void> {
      host = adapterHost;
      for (const entry of entries.values()) subscribe(entry);
      for (const entry of entries.values()) if (entry.adapter === null) setHealth(entry, entry.health);
      await Promise.all([...entries.keys()].map(check));
    },
    /** Checks an adapter in the background, because a task failed for a reason of the runtime or could not be accepted. */
    suspect(provider: string): void {
      const checkedAt = entries.get(provider)?.health.checkedAt ?? 0;
      if (Date.now() - checkedAt >= SUSPECT_PAUSE_MS) void check(provider);
    },
    /** Estimates the seconds until the next check of an adapter has ended; null if none is planned. */
    secondsToNextCheck(provider: string): number | null {
      const entry = entries.get(provider);
      if (entry === undefined || (entry.checking === null && entry.next === null)) return null;
      const waitMs = entry.checking === null ? Math.max((entry.next?.at ?? 0) - Date.now(), 0) : 0;
      return Math.ceil((waitMs + USUAL_CHECK_MS) / 1000);
    },
    async close(): Promise<void> {
      closed = true;
      for (const { next } of entries.values()) clearTimeout(next?.timer);
      const initialized = [...entries.values()].filter((entry) => entry.initialized);
      await Promise.allSettled(initialized.map((entry) => within(CHECK_LIMIT_MS, entry.adapter?.shutdown() ?? Promise.resolve())));
    },
  };
}

function offline(detail: string): AdapterHealthStatus {
  return { status: "offline", connection: null, version: null, detail, preflight: [] };
}

const within = <T>(limitMs: number, work: Promise<T>): Promise<T> =>
  withTimeout(work, limitMs, () => {
    throw new Error(`The adapter did not answer within ${limitMs / 1000} s.`);
  });
