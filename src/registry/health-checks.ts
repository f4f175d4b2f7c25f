import { withTimeout } from "@hak2i/async-kit";
import pRetry from "p-retry";
import type { AdapterHealthStatus, ExecutionAdapter } from "#contract";

const CHECK_LIMIT_MS = 15_000;
/** Delay of the next check of an adapter that is offline. It doubles with each check, up to the usual interval. */
const OFFLINE_PAUSE_MS = 15_000;
/** Estimated duration of a check. */
const USUAL_CHECK_MS = 5_000;

/** The health checks of one adapter. */
export type HealthChecks = ReturnType<typeof createHealthChecks>;

/** Options of the checks. */
interface HealthChecksOptions {
  /** Initializes the adapter. Repeated if it rejects. */
  initialize(): Promise<void>;
  /** Receives the result of each check. */
  onChecked(health: AdapterHealthStatus): void;
  intervalMs: number;
  /** Time limit of a check, of the initialization and of the shutdown of the adapter. Default: 15 s. */
  limitMs?: number | undefined;
}

/** Initializes an adapter and then checks its health regularly; more often while it is offline. */
export function createHealthChecks(adapter: ExecutionAdapter, options: HealthChecksOptions) {
  const { initialize, onChecked, intervalMs, limitMs = CHECK_LIMIT_MS } = options;
  let initializing: Promise<void> | null = null;
  let initialized = false;
  let checking: Promise<void> | null = null;
  let next: { timer: NodeJS.Timeout; at: number } | null = null;
  /** Consecutive checks that found it offline. */
  let timesOffline = 0;
  let closed = false;

  function check(): Promise<void> {
    if (closed) return Promise.resolve();
    checking ??= (async () => {
      try {
        initializing ??= initializeOnce();
        await awaitAnswer(limitMs, initializing);
        report(await awaitAnswer(limitMs, adapter.checkHealth()));
      } catch (error) {
        report(createOfflineHealth(error));
      } finally {
        checking = null;
        scheduleNext();
      }
    })();
    return checking;
  }

  /** Runs once at a time: the next check awaits an initialization that takes longer than a check, and repeats one that fails. */
  async function initializeOnce(): Promise<void> {
    try {
      await pRetry(initialize, { retries: 2, minTimeout: 200 });
      initialized = true;
    } catch (error) {
      initializing = null;
      throw error;
    }
  }

  function report(health: AdapterHealthStatus): void {
    timesOffline = health.status === "offline" ? timesOffline + 1 : 0;
    onChecked(health);
  }

  /** A runtime that was offline may start or be installed later. */
  function scheduleNext(): void {
    clearTimeout(next?.timer);
    next = null;
    if (closed) return;
    const pauseMs = timesOffline === 0 ? intervalMs : Math.min(OFFLINE_PAUSE_MS * 2 ** (timesOffline - 1), intervalMs);
    const timer = setTimeout(() => void check(), pauseMs);
    timer.unref();
    next = { timer, at: performance.now() + pauseMs };
  }

  let checkingAgain: Promise<void> | null = null;

  return {
    /** Starts a check, or joins the one that is running. Never rejects. */
    check,
    /** Starts a check after the running one, which may have read what has changed since. Never rejects. */
    checkAgain(): Promise<void> {
      checkingAgain ??= (async () => {
        await checking;
        checkingAgain = null;
        await check();
      })();
      return checkingAgain;
    },
    /** Resolves when no check is running or planned to follow it. */
    async settled(): Promise<void> {
      await checkingAgain;
      await checking;
    },
    /** Estimates the seconds until the next check has ended; null if none is planned. */
    estimateSecondsToNext(): number | null {
      if (checking === null && next === null) return null;
      const waitMs = checking === null ? Math.max((next?.at ?? 0) - performance.now(), 0) : 0;
      return Math.ceil((waitMs + USUAL_CHECK_MS) / 1000);
    },
    /** Ends the checks, and shuts the adapter down if it was initialized. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(next?.timer);
      if (initialized) await awaitAnswer(limitMs, adapter.shutdown());
    },
  };
}

/** Returns the health of an adapter that is offline because of this error, or for this reason. */
export const createOfflineHealth = (reason: unknown): AdapterHealthStatus => ({
  status: "offline",
  connection: null,
  version: null,
  detail: reason instanceof Error ? reason.message : String(reason),
  preflight: [],
});

/** Awaits an answer of an adapter. Rejects if there is none within the limit. */
export const awaitAnswer = <T>(limitMs: number, work: Promise<T>): Promise<T> =>
  withTimeout(work, limitMs, () => {
    throw new Error(`The adapter did not answer within ${limitMs / 1000} s.`);
  });
