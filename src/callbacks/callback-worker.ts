import { setImmediate as nextTurn } from "node:timers/promises";
import { sleep } from "@hak2i/async-kit";
import type { BaseLogger } from "pino";
import { Agent } from "undici";
import type { Metrics } from "../metrics.ts";
import type { CallbackQueue, CallbackSettlement, DueCallback, NewEvent, Store } from "../store/store.ts";
import { createCallbackClaims, type Delivery } from "./callback-claims.ts";
import { createCallbackGuard } from "./callback-guard.ts";
import { type CallbackScheduleSettings, nextCallbackDelayMs } from "./callback-schedule.ts";
import type { Names } from "./names.ts";
import { type PostResult, postCallback } from "./post-callback.ts";
import { readSigningKeys } from "./sign-callback.ts";

/** The part of the configuration that is about callbacks. */
export interface CallbackSettings extends CallbackScheduleSettings {
  /** `whsec_…`; all of them sign. */
  secrets: readonly string[];
  /** Hosts, `*.suffix`es and CIDRs that may be reached although they are not public. */
  allow: readonly string[];
}

/** What a callback worker is made of; what is optional is for tests. */
export interface CallbackWorkerOptions {
  store: Store;
  metrics: Metrics;
  logger: Pick<BaseLogger, "info" | "warn" | "error">;
  config: CallbackSettings;
  names: Names;
  clock?: () => number;
  random?: () => number;
  attemptTimeoutMs?: number;
  closeGraceMs?: number;
}

/** Delivers the callbacks that the store owes. */
export interface CallbackWorker {
  /** Begins, with everything that is overdue. */
  start(): void;
  /** A callback of this queue has just been committed, or given a new round. */
  notify(queue: CallbackQueue): void;
  /** Claims nothing more, gives the POSTs under way a short grace, then aborts them without counting them. */
  close(): Promise<void>;
}

/** How long a callback rests after a fault of our own. */
const FAULT_PAUSE_MS = 1000;

/** Makes the one worker that posts callbacks: each at least once, by the stored schedule, until it is delivered or dead. */
export function createCallbackWorker(options: CallbackWorkerOptions): CallbackWorker {
  const { store, metrics, logger, config, names, clock = Date.now, random = Math.random } = options;
  const { attemptTimeoutMs = 15_000, closeGraceMs = 2000 } = options;
  const guard = createCallbackGuard({ allow: config.allow, names, connectTimeoutMs: attemptTimeoutMs });
  // An attempt has its one deadline; undici's own only measure silence.
  const dispatcher = new Agent({ connect: guard.connector, headersTimeout: 0, bodyTimeout: 0 });
  const shutdown = new AbortController();
  const posting = {
    dispatcher,
    names,
    signingKeys: readSigningKeys(config.secrets),
    timeoutMs: attemptTimeoutMs,
    shutdown: shutdown.signal,
    clock,
  };
  const claims = createCallbackClaims({
    store,
    deliver,
    onFault: (error) => logger.error({ err: error }, "callbacks cannot be read"),
  });
  let closing: Promise<void> | null = null;

  function deliver(callback: DueCallback): Delivery {
    const posted = post(callback);
    return {
      settled: posted.then(async (result) => {
        const settled = result.outcome !== "own_fault" && (await settle(callback, result));
        if (!settled) await sleep(FAULT_PAUSE_MS, shutdown.signal).catch(() => {});
        return settled;
      }),
      ended: posted.then(async (result) => {
        await result.drained;
        return result.outcome === "own_fault" ? null : result.status !== null;
      }),
    };
  }

  async function post(callback: DueCallback): Promise<PostResult> {
    const startedAt = performance.now();
    const result = await postCallback(callback, posting);
    report(callback, result, Math.round(performance.now() - startedAt));
    return result;
  }

  /** Counts the attempt and stores what follows from it. */
  async function settle(callback: DueCallback, result: PostResult): Promise<boolean> {
    const settlement = settlementOf(callback, result, config, random);
    try {
      const settled = await store.settleCallbackIfPending(callback.task.seq, settlement);
      if (settled === null) return true;
    } catch (error) {
      logger.error({ ...identify(callback), err: error }, "callback not settled, it will be posted again");
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

  function report(callback: DueCallback, { outcome, status, error }: PostResult, durationMs: number): void {
    const level = outcome === "failed" || outcome === "gone" ? "warn" : "info";
    const attempt = callback.attempts + 1;
    const ageMs = clock() - callback.finishedAt;
    logger[level]({ ...identify(callback), attempt, outcome, status, error, durationMs, ageMs }, "callback attempt");
  }

  async function close(): Promise<void> {
    // What the last tasks owe is claimed in a turn of its own: it still gets its first attempt.
    await nextTurn();
    claims.stop();
    await claims.idle(closeGraceMs);
    shutdown.abort();
    // What is left now waits for the disk at most; the store itself ends that.
    await claims.idle(closeGraceMs);
    await dispatcher.destroy();
  }

  return {
    start() {
      if (config.secrets.length === 0)
        logger.warn({}, "callbacks are not signed: set BRIDGE_CALLBACK_SECRETS to let receivers verify them");
      claims.start();
    },
    notify: claims.notify,
    close: () => (closing ??= close()),
  };
}

/** What one attempt makes of a callback: delivered, dead, or pending until its next turn. */
function settlementOf(
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

/** Who an attempt is about; the origin only, because the rest of a URL may carry secrets. */
function identify({ task, origin }: DueCallback): object {
  return { taskId: task.taskId, tenant: task.tenant, agentId: task.agentId, provider: task.provider, origin };
}
