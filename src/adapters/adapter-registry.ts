import { withTimeout } from "@hak2i/async-kit";
import pRetry from "p-retry";
import type { Logger } from "pino";
import type { AdapterConfig, AdapterEvent, AdapterHealthStatus, ExecutionAdapter, ProviderDescription } from "#contract";
import { adapterEventData, isModelLister, isPaced } from "#contract";
import type { Metrics } from "../metrics.ts";

/** An adapter as it was found: loaded, or the reason why not. */
export type LoadedAdapter = { provider: string; adapter: ExecutionAdapter } | { provider: string; adapter: null; reason: string };

/** Health with the time at which it was found out, in ms since the epoch; null while the first check is under way. */
type KnownHealth = AdapterHealthStatus & { checkedAt: number | null };

/** One adapter and how it is. */
export interface RegisteredAdapter {
  provider: string;
  /** Null when it could not be loaded: it is listed offline. */
  adapter: ExecutionAdapter | null;
  health: KnownHealth;
}

/** Options of the registry. */
export interface RegistryOptions {
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

/** The adapters of this Bridge and the last answer of each about its health. */
export interface AdapterRegistry {
  list(): readonly RegisteredAdapter[];
  get(provider: string): RegisteredAdapter | undefined;
  /** As adapters see one another; null when none is loaded. */
  describe(provider: string): ProviderDescription | null;
  /** Null when it cannot be known in time. */
  listModels(provider: string): Promise<readonly string[] | null>;
  /** Initializes every adapter and checks it for the first time; resolves when every check has ended or timed out. */
  start(host: AdapterHost): Promise<void>;
  /** A task failed for a reason of the runtime, or could not be taken on: look again, in the background. */
  suspect(provider: string): void;
  /** Seconds until the next check of an adapter should be over; null when none will come. */
  secondsToNextCheck(provider: string): number | null;
  close(): Promise<void>;
}

const CHECK_INTERVAL_MS = 5 * 60_000;
/** Adapters answer within this; one that does not is asked again later. */
const CHECK_LIMIT_MS = 15_000;
/** A burst of failures costs one check, not one each. */
const SUSPECT_PAUSE_MS = 15_000;
/** An adapter that is offline is checked again after this, then after twice as long, up to the usual interval. */
const OFFLINE_PAUSE_MS = 15_000;
/** Most checks take less. */
const USUAL_CHECK_MS = 5_000;
/** Some programs take seconds for it, and more on a busy machine; who asks has minutes. */
const LIST_LIMIT_MS = 20_000;

interface Entry extends RegisteredAdapter {
  initializing: Promise<void> | null;
  initialized: boolean;
  checking: Promise<void> | null;
  /** Checks in a row that found it offline. */
  timesOffline: number;
  next: { timer: NodeJS.Timeout; at: number } | null;
}

/** Keeps adapters initialised and their health known; a faulty one never stops the others. */
export function createAdapterRegistry(options: RegistryOptions): AdapterRegistry {
  const { metrics, logger, checkIntervalMs = CHECK_INTERVAL_MS } = options;
  const entries = new Map<string, Entry>();
  for (const loaded of options.loaded) {
    const health =
      loaded.adapter === null ? offline(loaded.reason) : { ...offline("The first check is under way."), status: "degraded" as const };
    entries.set(loaded.provider, {
      provider: loaded.provider,
      adapter: loaded.adapter,
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
        remember(entry, await within(CHECK_LIMIT_MS, adapter.checkHealth()));
      } catch (error) {
        remember(entry, offline(error instanceof Error ? error.message : String(error)));
      } finally {
        entry.checking = null;
        scheduleNext(entry);
      }
    })();
    return entry.checking;
  }

  /** A runtime that was offline may have been slow to start, or be there by now. */
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

  /** One at a time: what takes longer than a check is awaited by the next one, what fails is tried again by it. */
  async function initialize(entry: Entry, adapter: ExecutionAdapter, configure: AdapterHost["configure"]): Promise<void> {
    try {
      await pRetry(() => adapter.initialize(configure(entry.provider)), { retries: 2, minTimeout: 200 });
      entry.initialized = true;
    } catch (error) {
      entry.initializing = null;
      throw error;
    }
  }

  function remember(entry: RegisteredAdapter, health: AdapterHealthStatus): void {
    const isNews = entry.health.checkedAt === null || entry.health.status !== health.status;
    entry.health = { ...health, checkedAt: Date.now() };
    metrics.adapterUp.set({ provider: entry.provider }, { healthy: 1, degraded: 0.5, offline: 0 }[health.status]);
    if (isNews) {
      const level = health.status === "offline" ? "warn" : "info";
      logger[level]({ provider: entry.provider, health: health.status, detail: health.detail, version: health.version }, "adapter health");
    }
    host?.onChecked(entry.provider);
  }

  return {
    list: () => [...entries.values()],
    get: (provider) => entries.get(provider),
    describe(provider) {
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
    async listModels(provider) {
      const adapter = entries.get(provider)?.adapter;
      if (!isModelLister(adapter)) return null;
      try {
        return await within(LIST_LIMIT_MS, adapter.listModels());
      } catch (error) {
        logger.info({ err: error, provider }, "the models of a runtime cannot be listed");
        return null;
      }
    },
    async start(adapterHost) {
      host = adapterHost;
      for (const { provider, adapter } of entries.values()) adapter?.onEvent?.((event) => receive(provider, event));
      for (const entry of entries.values()) if (entry.adapter === null) remember(entry, entry.health);
      await Promise.all([...entries.keys()].map(check));
    },
    suspect(provider) {
      const checkedAt = entries.get(provider)?.health.checkedAt ?? 0;
      if (Date.now() - checkedAt >= SUSPECT_PAUSE_MS) void check(provider);
    },
    secondsToNextCheck(provider) {
      const entry = entries.get(provider);
      if (entry === undefined || (entry.checking === null && entry.next === null)) return null;
      const waitMs = entry.checking === null ? Math.max((entry.next?.at ?? 0) - Date.now(), 0) : 0;
      return Math.ceil((waitMs + USUAL_CHECK_MS) / 1000);
    },
    async close() {
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
