import { setImmediate as nextTurn } from "node:timers/promises";
import { sleep } from "@hak2i/async-kit";
import type { BaseLogger } from "pino";
import { Agent } from "undici";
import { type Metrics, toExemplar } from "../metrics.ts";
import { createDestinationGuard } from "../network/destination-guard.ts";
import type { DnsCache } from "../network/dns-cache.ts";
import type { AttemptDetails, DuePost, PostSettlement } from "../store/posts/interface.ts";
import { createClaims } from "./claims.ts";
import type { Outbox } from "./outbox.ts";
import { createPoster, type Envelope, type PostResult } from "./poster.ts";
import type { Delivery } from "./posts-in-progress.ts";
import { nextDelayMs, type PostScheduleSettings } from "./schedule.ts";

/** The settings of a worker. */
export interface PostWorkerSettings extends PostScheduleSettings {
  /** Hosts, `*.suffix`es and CIDRs that may be reached although they are not public. */
  allow: readonly string[];
}

/** The parts that every worker uses. The optional ones are for tests. */
export interface PostWorkerTools {
  logger: Pick<BaseLogger, "info" | "warn" | "error">;
  config: PostWorkerSettings;
  dnsCache: DnsCache;
  clock?: () => number;
  random?: () => number;
  attemptTimeoutMs?: number;
  closeGraceMs?: number;
  /** Maximum milliseconds between two searches for due posts. */
  maxSleepMs?: number;
}

/** What a worker posts, and how. */
export interface PostWorkerOptions<Post extends DuePost> extends PostWorkerTools {
  outbox: Outbox<Post>;
  metrics: { attempts: Metrics["callbackAttempts"]; dead: Metrics["callbackDead"]; lag: Metrics["callbackLag"] };
  /** Returns the headers and the signing keys of a post. */
  toEnvelope(post: Post): Envelope;
  /** Returns the log fields of a post, without its URL, which may contain secrets. */
  identify(post: Post): object;
  /** Returns the number of retries of a post, if it is not that of the settings. */
  limitRetries?(post: Post): number | null;
  /** Whether the outbox stores a history of attempts, with the beginning of each response. */
  keepsHistory?: boolean;
  messages: PostMessages;
}

/** The log messages of a worker. */
export interface PostMessages {
  attempt: string;
  dead: string;
  notRead: string;
  notSettled: string;
}

/** Pause of a post after a failure of Bridge or its host. */
const FAULT_PAUSE_MS = 1000;

/** Creates the worker that posts what an outbox contains: each at least once, on the stored schedule, until it is delivered or dead. */
export function createPostWorker<Post extends DuePost>(options: PostWorkerOptions<Post>) {
  const { outbox, toEnvelope, identify, messages, logger, config, dnsCache, clock = Date.now, random = Math.random } = options;
  const { attemptTimeoutMs = 15_000, closeGraceMs = 2000, maxSleepMs, keepsHistory = false, limitRetries = () => null } = options;
  const guard = createDestinationGuard({ allow: config.allow, dnsCache, connectTimeoutMs: attemptTimeoutMs });
  // Each attempt has one deadline, so undici's own timeouts are disabled.
  const dispatcher = new Agent({ connect: guard.connector, headersTimeout: 0, bodyTimeout: 0 });
  const shutdown = new AbortController();
  const records = createAttemptRecords(options);
  const poster = createPoster<Post>({
    dispatcher,
    dnsCache,
    toEnvelope,
    timeoutMs: attemptTimeoutMs,
    shutdown: shutdown.signal,
    clock,
    readsExcerpts: keepsHistory,
  });
  const claims = createClaims<Post>({
    outbox,
    deliver,
    onFault: (error) => logger.error({ err: error }, messages.notRead),
    ...(maxSleepMs !== undefined && { maxSleepMs }),
  });
  outbox.onPost(claims.handOver);
  let closing: Promise<void> | null = null;

  function deliver(post: Post): Delivery {
    const startedAt = performance.now();
    const posted = poster.post(post);

    async function settlePosted(): Promise<boolean> {
      const result = await posted;
      const durationMs = Math.round(performance.now() - startedAt);
      records.logAttempt(post, result, durationMs);
      const settled = result.outcome !== "own_fault" && (await settle(post, result, await describeAttempt(result, startedAt, durationMs)));
      if (!settled) await sleep(FAULT_PAUSE_MS, shutdown.signal).catch(() => {});
      return settled;
    }

    return {
      settled: settlePosted(),
      ended: posted.then(({ outcome, status }) => (outcome === "own_fault" ? null : status !== null)),
    };
  }

  async function describeAttempt({ excerpt }: PostResult, startedAt: number, durationMs: number): Promise<AttemptDetails | undefined> {
    if (!keepsHistory) return undefined;
    const response = excerpt === null ? null : await excerpt.read();
    return { startedMsAgo: Math.round(performance.now() - startedAt), durationMs, response };
  }

  /** Counts the attempt, and stores its outcome and the next attempt. Returns false if that fails. */
  async function settle(post: Post, result: PostResult, attempt: AttemptDetails | undefined): Promise<boolean> {
    const schedule = { ...config, retries: limitRetries(post) ?? config.retries };
    const settlement: PostSettlement = {
      ...toSettlement(post, result, schedule, random),
      ...(attempt !== undefined && { attempt }),
    };
    try {
      const settled = await outbox.settleIfPending(post, settlement);
      if (settled === null) return true;
    } catch (error) {
      logger.error({ ...identify(post), err: error }, messages.notSettled);
      return false;
    }
    if (settlement.nextInMs !== null) claims.wakeIn(settlement.nextInMs);
    records.count(post, result, settlement);
    return true;
  }

  async function close(): Promise<void> {
    // Posts of the last tasks are claimed in a later turn, and still get their first attempt.
    await nextTurn();
    claims.stop();
    await claims.waitUntilIdle(closeGraceMs);
    shutdown.abort();
    // The remaining posts can only wait for the disk. Closing the outbox ends that.
    await claims.waitUntilIdle(closeGraceMs);
    await dispatcher.destroy();
  }

  return {
    /** Starts to post, first what is due. */
    start: claims.start,
    /** Call it when a post of this queue has a new round of attempts. */
    notify: claims.notify,
    /** Call it when posts may be due that this node has to post. */
    searchSoon: claims.searchSoon,
    /** Stops claiming, gives POSTs in progress a short grace time, then aborts them without counting them. */
    close: (): Promise<void> => (closing ??= close()),
  };
}

/** Creates the log lines and metrics of attempts. */
function createAttemptRecords<Post extends DuePost>({ identify, messages, metrics, logger, clock = Date.now }: PostWorkerOptions<Post>) {
  return {
    logAttempt(post: Post, { outcome, status, error }: PostResult, durationMs: number): void {
      const level = outcome === "failed" || outcome === "gone" ? "warn" : "info";
      const attempt = post.attempts + 1;
      const ageMs = clock() - post.happenedAt;
      logger[level]({ ...identify(post), attempt, outcome, status, error, durationMs, ageMs }, messages.attempt);
    },
    count(post: Post, { outcome }: PostResult, { state, lastStatus, lastError }: PostSettlement): void {
      metrics.attempts.inc({ outcome });
      if (state === "delivered") {
        const lagMs = Math.max(0, clock() - post.happenedAt);
        metrics.lag.observe({ value: lagMs / 1000, exemplarLabels: toExemplar(post.traceparent) });
      }
      if (state === "dead") {
        metrics.dead.inc();
        logger.error({ ...identify(post), attempts: post.attempts + 1, lastStatus, lastError }, messages.dead);
      }
    },
  };
}

/** The state of a post after an attempt: delivered, dead, or pending until the next attempt. */
function toSettlement(
  post: DuePost,
  { outcome, status, error, retryAfterMs }: PostResult,
  settings: PostScheduleSettings,
  random: () => number,
): PostSettlement {
  const last = { lastStatus: status, lastError: error };
  if (outcome === "delivered") return { state: "delivered", nextInMs: null, ...last };
  const roundAttempts = post.roundAttempts + 1;
  const nextInMs = outcome === "gone" ? null : nextDelayMs(settings, { roundAttempts, retryAfterMs, random });
  return { state: nextInMs === null ? "dead" : "pending", nextInMs, ...last };
}
