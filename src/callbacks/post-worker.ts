import { setImmediate as nextTurn } from "node:timers/promises";
import { sleep } from "@hak2i/async-kit";
import type { BaseLogger } from "pino";
import { Agent } from "undici";
import type { Metrics } from "../metrics.ts";
import { createDestinationGuard } from "../network/destination-guard.ts";
import type { DnsCache } from "../network/dns-cache.ts";
import type { CallbackSettlement, DueCallback, NewEvent } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { createCallbackClaims } from "./callback-claims.ts";
import type { Delivery } from "./callback-posts.ts";
import { type CallbackScheduleSettings, nextCallbackDelayMs } from "./callback-schedule.ts";
import { createCallbackPoster, type PostResult } from "./post-callback.ts";
import { readSigningKeys } from "./sign-callback.ts";

/** The callback settings of the configuration. */
export interface CallbackSettings extends CallbackScheduleSettings {
  /** `whsec_…`. Callbacks carry one signature for each. */
  secrets: readonly string[];
  /** Hosts, `*.suffix`es and CIDRs that may be reached although they are not public. */
  allow: readonly string[];
}

/** The parts that a callback worker uses. The optional ones are for tests. */
export interface CallbackWorkerOptions {
  store: Store;
  metrics: Metrics;
  logger: Pick<BaseLogger, "info" | "warn" | "error">;
  config: CallbackSettings;
  dnsCache: DnsCache;
  clock?: () => number;
  random?: () => number;
  attemptTimeoutMs?: number;
  closeGraceMs?: number;
  /** Maximum milliseconds between two searches for due callbacks. */
  maxSleepMs?: number;
}

export type CallbackWorker = ReturnType<typeof createCallbackWorker>;

/** Pause of a callback after a failure of Bridge or its host. */
const FAULT_PAUSE_MS = 1000;

/** Creates the worker that posts callbacks: each at least once, on the stored schedule, until it is delivered or dead. */
export function createCallbackWorker(options: CallbackWorkerOptions) {
  const { store, metrics, logger, config, dnsCache, clock = Date.now, random = Math.random } = options;
  const { attemptTimeoutMs = 15_000, closeGraceMs = 2000, maxSleepMs } = options;
  const guard = createDestinationGuard({ allow: config.allow, dnsCache, connectTimeoutMs: attemptTimeoutMs });
  // Each attempt has one deadline, so undici's own timeouts are disabled.
  const dispatcher = new Agent({ connect: guard.connector, headersTimeout: 0, bodyTimeout: 0 });
  const shutdown = new AbortController();
  const poster = createCallbackPoster({
    dispatcher,
    dnsCache,
    signingKeys: readSigningKeys(config.secrets),
    timeoutMs: attemptTimeoutMs,
    shutdown: shutdown.signal,
    clock,
  });
  const claims = createCallbackClaims({
    store,
    deliver,
    onFault: (error) => logger.error({ err: error }, "failed to read due callbacks"),
    ...(maxSleepMs !== undefined && { maxSleepMs }),
  });
  store.onCallback(claims.handOver);
  let closing: Promise<void> | null = null;

  function deliver(callback: DueCallback): Delivery {
    const startedAt = performance.now();
    const posted = poster.post(callback);

    async function settlePosted(): Promise<boolean> {
      const result = await posted;
      logAttempt(callback, result, Math.round(performance.now() - startedAt));
      const settled = result.outcome !== "own_fault" && (await settle(callback, result));
      if (!settled) await sleep(FAULT_PAUSE_MS, shutdown.signal).catch(() => {});
      return settled;
    }

    return {
      settled: settlePosted(),
      ended: posted.then(({ drained, outcome, status }) => drained.then(() => (outcome === "own_fault" ? null : status !== null))),
    };
  }

  /** Counts the attempt, and stores its outcome and the next attempt. Returns false if that fails. */
  async function settle(callback: DueCallback, result: PostResult): Promise<boolean> {
    const settlement = toSettlement(callback, result, config, random);
    try {
      const settled = await store.settleCallbackIfPending(callback, settlement);
      if (settled === null) return true;
    } catch (error) {
      logger.error({ ...identify(callback), err: error }, "failed to settle callback, posting it again");
      return false;
    }
    if (settlement.nextInMs !== null) claims.wakeIn(settlement.nextInMs);
    metrics.callbackAttempts.inc({ outcome: result.outcome });
    if (settlement.state === "delivered") metrics.callbackLag.observe(Math.max(0, clock() - callback.finishedAt) / 1000);
    if (settlement.state === "dead") {
      metrics.callbackDead.inc();
      const { lastStatus, lastError } = settlement;
      logger.error({ ...identify(callback), attempts: callback.attempts + 1, lastStatus, lastError }, "callback dead");
    }
    return true;
  }

  function logAttempt(callback: DueCallback, { outcome, status, error }: PostResult, durationMs: number): void {
    const level = outcome === "failed" || outcome === "gone" ? "warn" : "info";
    const attempt = callback.attempts + 1;
    const ageMs = clock() - callback.finishedAt;
    logger[level]({ ...identify(callback), attempt, outcome, status, error, durationMs, ageMs }, "callback attempt");
  }

  async function close(): Promise<void> {
    // Callbacks of the last tasks are claimed in a later turn, and still get their first attempt.
    await nextTurn();
    claims.stop();
    await claims.waitUntilIdle(closeGraceMs);
    shutdown.abort();
    // The remaining callbacks can only wait for the disk. Closing the store ends that.
    await claims.waitUntilIdle(closeGraceMs);
    await dispatcher.destroy();
  }

  return {
    /** Starts to post callbacks, first those that are due. */
    start(): void {
      if (config.secrets.length === 0)
        logger.warn({}, "callbacks are not signed, set BRIDGE_CALLBACK_SECRETS so that receivers can verify them");
      claims.start();
    },
    /** Call it when a callback of this queue has a new round of attempts. */
    notify: claims.notify,
    /** Call it when another node reports that callbacks are due, which this node posts. */
    searchSoon: claims.searchSoon,
    /** Stops claiming, gives POSTs in progress a short grace time, then aborts them without counting them. */
    close: (): Promise<void> => (closing ??= close()),
  };
}

/** The state of a callback after an attempt: delivered, dead, or pending until the next attempt. */
function toSettlement(
  callback: DueCallback,
  { outcome, status, error, retryAfterMs }: PostResult,
  settings: CallbackScheduleSettings,
  random: () => number,
): CallbackSettlement {
  const last = { lastStatus: status, lastError: error };
  if (outcome === "delivered") {
    return { state: "delivered", nextInMs: null, ...last, event: (attempts) => newEvent("callback.delivered", { attempts, status }) };
  }
  const roundAttempts = callback.roundAttempts + 1;
  const nextInMs = outcome === "gone" ? null : nextCallbackDelayMs(settings, { roundAttempts, retryAfterMs, random });
  if (nextInMs !== null) return { state: "pending", nextInMs, ...last, event: null };
  return { state: "dead", nextInMs: null, ...last, event: (attempts) => newEvent("callback.dead", { attempts, ...last }) };
}

const newEvent = (type: NewEvent["type"], data: object): NewEvent => ({ type, data: JSON.stringify(data) });

/** Returns the log fields of a callback, with only the origin of its URL, because the rest may contain secrets. */
function identify({ task, origin }: DueCallback): object {
  return { taskId: task.taskId, tenant: task.tenant, agentId: task.agentId, provider: task.provider, origin };
}
