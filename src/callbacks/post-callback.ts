import type { KeyObject } from "node:crypto";
import { Readable } from "node:stream";
import { rejectOnAbort } from "@hak2i/async-kit";
import type { Dispatcher } from "undici";
import packageJson from "../../package.json" with { type: "json" };
import type { DnsCache } from "../network/dns-cache.ts";
import type { DueCallback } from "../store/store.ts";
import { startDeadline } from "../timers/deadline.ts";
import { classifyFailure, isOwnFault } from "./callback-failure.ts";
import { callbackId } from "./callback-id.ts";
import { startSignature } from "./sign-callback.ts";

/** The parts and settings of a POST. */
export interface PostOptions {
  dispatcher: Dispatcher;
  /** The cache that the connections of the dispatcher use. */
  dnsCache: Pick<DnsCache, "prepare">;
  /** One signature per key. Without keys the callback is not signed. */
  signingKeys: readonly KeyObject[];
  /** One timeout for host lookup, connect, TLS, headers and body. */
  timeoutMs: number;
  /** Aborts the POST when Bridge shuts down. */
  shutdown: AbortSignal;
  clock: () => number;
}

/** The result of a POST. `own_fault`: Bridge or its host failed, so the POST does not count as an attempt. */
export interface PostResult {
  outcome: "delivered" | "failed" | "gone" | "own_fault";
  status: number | null;
  /** Short name of the failure; null if delivered. */
  error: string | null;
  retryAfterMs: number | null;
  /** Resolves when the rest of the response has been read or aborted. It does not change the outcome. */
  drained: Promise<void>;
}

const RESPONSE_LIMIT_BYTES = 64 * 1024;

const stoppedByShutdown: PostResult = {
  outcome: "own_fault",
  status: null,
  error: "shutdown",
  retryAfterMs: null,
  drained: Promise.resolve(),
};

/** Makes one attempt: one POST that follows no redirect. Never rejects; resolves when the status of the response is known. */
export async function postCallback(callback: DueCallback, options: PostOptions): Promise<PostResult> {
  const { dispatcher, dnsCache, shutdown, timeoutMs, clock } = options;
  const url = new URL(callback.url);
  let prepared: { found: Promise<void> };
  try {
    // The receiver's deadline starts after the wait for a lookup slot, because Bridge causes this wait.
    prepared = await dnsCache.prepare(callback.task.tenant, url.hostname, shutdown);
  } catch {
    return stoppedByShutdown;
  }
  const deadline = limitAttempt(timeoutMs, shutdown);
  const source = createBodySource(callback);
  try {
    await rejectOnAbort(prepared.found, deadline.signal);
    const { headers, body } = await buildRequest(callback, source, options, deadline.signal);
    const request = dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "POST",
      headers,
      body,
      signal: deadline.signal,
    });
    // undici handles the signal only after it has connected. Until then, `rejectOnAbort` does.
    const response = await rejectOnAbort(request, deadline.signal);
    const drained = drain(response.body, deadline);
    return { ...toOutcome(response.statusCode, response.headers["retry-after"], clock()), drained };
  } catch (error) {
    const stopped = shutdown.aborted;
    const timedOut = deadline.signal.aborted;
    deadline.end();
    if (stopped) return stoppedByShutdown;
    return {
      outcome: source.isUnreadable() || isOwnFault(error) ? "own_fault" : "failed",
      status: null,
      error: source.isUnreadable() ? "body_unreadable" : timedOut ? "timeout" : classifyFailure(error),
      retryAfterMs: null,
      drained: Promise.resolve(),
    };
  }
}

/** Reads a long body in parts. `read` is null for a short body. */
interface BodySource {
  read: (() => AsyncIterable<Buffer>) | null;
  /** Whether the store failed to read it. */
  isUnreadable(): boolean;
}

function createBodySource({ readBody }: DueCallback): BodySource {
  let unreadable = false;
  async function* read(parts: AsyncIterable<string>): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const part of parts) yield Buffer.from(part);
    } catch (error) {
      unreadable = true;
      throw error;
    }
  }
  return { read: readBody === undefined ? null : () => read(readBody()), isUnreadable: () => unreadable };
}

/**
 * Builds the headers and the body of an attempt. A long body is read twice, for its signature and for the receiver, and never held in
 * memory as a whole.
 */
async function buildRequest(
  callback: DueCallback,
  { read }: BodySource,
  { signingKeys, clock }: PostOptions,
  signal: AbortSignal,
): Promise<{ headers: Record<string, string>; body: Buffer | Readable }> {
  const { tenant, taskId } = callback.task;
  const id = callback.messageId ?? callbackId({ tenant, taskId });
  const timestampSeconds = Math.floor(clock() / 1000);
  const signature = startSignature({ id, timestampSeconds }, signingKeys);
  const whole = Buffer.from(callback.body);
  let bytes = whole.length;
  if (read === null) signature.update(whole);
  else
    for await (const part of read()) {
      bytes += part.length;
      signature.update(part);
      signal.throwIfAborted();
    }
  const headers = {
    "content-type": "application/json",
    "content-length": String(bytes),
    "user-agent": `bridge/${packageJson.version}`,
    "idempotency-key": callback.task.taskId,
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    ...(signingKeys.length > 0 && { "webhook-signature": signature.end() }),
    ...(callback.traceparent !== null && { traceparent: callback.traceparent }),
  };
  return { headers, body: read === null ? whole : Readable.from(read(), { objectMode: false }) };
}

function toOutcome(status: number, retryAfter: string | string[] | undefined, now: number): Omit<PostResult, "drained"> {
  if (status >= 200 && status < 300) return { outcome: "delivered", status, error: null, retryAfterMs: null };
  return {
    outcome: status === 410 ? "gone" : "failed",
    status,
    error: status < 400 ? "redirect" : `http_${status}`,
    retryAfterMs: readRetryAfter(retryAfter, now),
  };
}

function readRetryAfter(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== "string") return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Reads the rest of the response, within the limit and the deadline, so that the connection can be reused. */
async function drain(body: Dispatcher.ResponseData["body"], deadline: ReturnType<typeof limitAttempt>): Promise<void> {
  try {
    await body.dump({ limit: RESPONSE_LIMIT_BYTES, signal: deadline.signal });
  } catch {
    // The deadline has passed or the receiver has disconnected. The status has already decided the outcome.
  } finally {
    deadline.end();
  }
}

function limitAttempt(timeoutMs: number, shutdown: AbortSignal) {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort();
  const deadline = startDeadline(abort, timeoutMs);
  shutdown.addEventListener("abort", abort);
  if (shutdown.aborted) abort();
  return {
    signal,
    end() {
      deadline.cancel();
      shutdown.removeEventListener("abort", abort);
    },
  };
}
