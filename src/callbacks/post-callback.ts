import { hash, type KeyObject } from "node:crypto";
import type { Dispatcher } from "undici";
import packageJson from "../../package.json" with { type: "json" };
import type { DueCallback } from "../store/store.ts";
import { isOwnFault, nameFailure } from "./callback-failure.ts";
import { startDeadline } from "./deadline.ts";
import { signCallback } from "./sign-callback.ts";

/** What one POST needs besides the callback. */
export interface PostOptions {
  dispatcher: Dispatcher;
  /** One signature each; none leaves the callback unsigned. */
  signingKeys: readonly KeyObject[];
  /** One deadline over name lookup, connect, TLS, headers and body. */
  timeoutMs: number;
  /** Aborts the POST because Bridge stops. */
  shutdown: AbortSignal;
  clock: () => number;
}

/** How one POST went. `own_fault` says nothing about the receiver and is no attempt. */
export interface PostResult {
  outcome: "delivered" | "failed" | "gone" | "own_fault";
  status: number | null;
  /** Short name of the failure, null when delivered. */
  error: string | null;
  retryAfterMs: number | null;
  /** Resolves when the rest of the answer has been read or cut off. Its content never changes the outcome. */
  drained: Promise<void>;
}

const RESPONSE_LIMIT_BYTES = 64 * 1024;

/** Makes one attempt: one POST, no redirect followed. Never rejects; resolves as soon as the answer's status is known. */
export async function postCallback(callback: DueCallback, options: PostOptions): Promise<PostResult> {
  const { dispatcher, shutdown, timeoutMs, clock } = options;
  const deadline = limitAttempt(timeoutMs, shutdown);
  try {
    const url = new URL(callback.url);
    const body = Buffer.from(callback.body);
    const request = dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "POST",
      headers: callbackHeaders(callback, body, options),
      body,
      signal: deadline.signal,
    });
    // undici hears the signal only once it is connected; until then the race does.
    const response = await Promise.race([request, deadline.passed]);
    const drained = drain(response.body, deadline);
    return { ...judge(response.statusCode, response.headers["retry-after"], clock()), drained };
  } catch (error) {
    const stopped = shutdown.aborted;
    const timedOut = deadline.signal.aborted && !stopped;
    deadline.end();
    return {
      outcome: stopped || isOwnFault(error) ? "own_fault" : "failed",
      status: null,
      error: stopped ? "shutdown" : timedOut ? "timeout" : nameFailure(error),
      retryAfterMs: null,
      drained: Promise.resolve(),
    };
  }
}

/** Same on all attempts and after a restart; a receiver deduplicates by it. */
export function callbackId({ tenant, taskId }: { tenant: string; taskId: string }): string {
  return `msg_${hash("sha256", JSON.stringify([tenant, taskId])).slice(0, 32)}`;
}

function callbackHeaders(callback: DueCallback, body: Uint8Array, { signingKeys, clock }: PostOptions): Record<string, string> {
  const id = callbackId(callback.task);
  const timestampSeconds = Math.floor(clock() / 1000);
  return {
    "content-type": "application/json",
    "user-agent": `bridge/${packageJson.version}`,
    "idempotency-key": callback.task.taskId,
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    ...(signingKeys.length > 0 && { "webhook-signature": signCallback({ id, timestampSeconds, body }, signingKeys) }),
    ...(callback.traceparent !== null && { traceparent: callback.traceparent }),
  };
}

function judge(status: number, retryAfter: string | string[] | undefined, now: number): Omit<PostResult, "drained"> {
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

/** Reads on so that the connection can serve again, within the limit and the deadline. */
async function drain(body: Dispatcher.ResponseData["body"], deadline: ReturnType<typeof limitAttempt>): Promise<void> {
  try {
    await body.dump({ limit: RESPONSE_LIMIT_BYTES, signal: deadline.signal });
  } catch {
    // The deadline cut it off, or the receiver broke off: the status has decided already.
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
  const passed = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  // The drain is aborted by the signal itself: nobody may be waiting for the promise any more.
  passed.catch(() => {});
  return {
    signal,
    passed,
    end() {
      deadline.cancel();
      shutdown.removeEventListener("abort", abort);
    },
  };
}
