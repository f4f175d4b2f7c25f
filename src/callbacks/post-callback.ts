import type { KeyObject } from "node:crypto";
import { Readable } from "node:stream";
import { rejectOnAbort } from "@hak2i/async-kit";
import type { Dispatcher } from "undici";
import packageJson from "../../package.json" with { type: "json" };
import type { DueCallback } from "../store/store.ts";
import { isOwnFault, nameFailure } from "./callback-failure.ts";
import { callbackId } from "./callback-id.ts";
import { startDeadline } from "./deadline.ts";
import type { Names } from "./names.ts";
import { startSignature } from "./sign-callback.ts";

/** What one POST needs besides the callback. */
export interface PostOptions {
  dispatcher: Dispatcher;
  /** The lookup that the connections of the dispatcher use. */
  names: Pick<Names, "prepare">;
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

const stoppedByShutdown: PostResult = {
  outcome: "own_fault",
  status: null,
  error: "shutdown",
  retryAfterMs: null,
  drained: Promise.resolve(),
};

/** Makes one attempt: one POST, no redirect followed. Never rejects; resolves as soon as the answer's status is known. */
export async function postCallback(callback: DueCallback, options: PostOptions): Promise<PostResult> {
  const { dispatcher, names, shutdown, timeoutMs, clock } = options;
  const url = new URL(callback.url);
  let prepared: { found: Promise<void> };
  try {
    // The deadline of the receiver starts after the wait for the host lookup, because Bridge causes this wait.
    prepared = await names.prepare(callback.task.tenant, url.hostname, shutdown);
  } catch {
    return stoppedByShutdown;
  }
  const deadline = limitAttempt(timeoutMs, shutdown);
  const source = createBodySource(callback);
  try {
    await rejectOnAbort(prepared.found, deadline.signal);
    const { headers, body } = await prepare(callback, source, options, deadline.signal);
    const request = dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "POST",
      headers,
      body,
      signal: deadline.signal,
    });
    // undici hears the signal only once it is connected; until then `rejectOnAbort` does.
    const response = await rejectOnAbort(request, deadline.signal);
    const drained = drain(response.body, deadline);
    return { ...judge(response.statusCode, response.headers["retry-after"], clock()), drained };
  } catch (error) {
    const stopped = shutdown.aborted;
    const timedOut = deadline.signal.aborted;
    deadline.end();
    if (stopped) return stoppedByShutdown;
    return {
      outcome: source.isUnreadable() || isOwnFault(error) ? "own_fault" : "failed",
      status: null,
      error: source.isUnreadable() ? "body_unreadable" : timedOut ? "timeout" : nameFailure(error),
      retryAfterMs: null,
      drained: Promise.resolve(),
    };
  }
}

/** A long body in parts of bytes; `read` is null when it is short. */
interface BodySource {
  read: (() => AsyncIterable<Buffer>) | null;
  /** The store could not read it. */
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

/** The headers and the body of one attempt. A long body is read twice, for its signature and for the receiver, and never held as a whole. */
async function prepare(
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
  return {
    signal,
    end() {
      deadline.cancel();
      shutdown.removeEventListener("abort", abort);
    },
  };
}
