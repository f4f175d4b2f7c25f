import type { KeyObject } from "node:crypto";
import { Readable } from "node:stream";
import { rejectOnAbort } from "@hak2i/async-kit";
import type { Dispatcher } from "undici";
import packageJson from "../../package.json" with { type: "json" };
import type { DnsCache } from "../network/dns-cache.ts";
import type { DuePost } from "../store/posts/interface.ts";
import { startDeadline } from "../timers/deadline.ts";
import { createDrainingAnswers } from "./draining-answers.ts";
import { classifyFailure, isOwnFault } from "./failure.ts";
import { startHttpPost } from "./http-post.ts";
import { createExcerptReader, type ExcerptReader } from "./response-excerpt.ts";
import { type SignedHead, startSignature } from "./sign.ts";

/** What a POST contains in addition to its body. */
export interface Envelope {
  /** The `webhook-id`. It is the same on all attempts. */
  id: string;
  /** Headers in addition to those that every POST has. */
  headers: Readonly<Record<string, string>>;
  /** One signature per key. Without keys the POST is not signed. */
  signingKeys: readonly KeyObject[];
}

/** The parts and settings of a poster. */
export interface PostOptions<Post extends DuePost> {
  dispatcher: Dispatcher;
  /** The cache that the connections of the dispatcher use. */
  dnsCache: Pick<DnsCache, "isReady" | "prepare">;
  toEnvelope(post: Post): Envelope;
  /** One timeout for host lookup, connect, TLS, headers and body. */
  timeoutMs: number;
  /** Aborts all POSTs when Bridge shuts down. */
  shutdown: AbortSignal;
  clock: () => number;
  /** Whether results contain the beginning of the response. */
  readsExcerpts?: boolean | undefined;
}

/** The result of a POST. `own_fault`: Bridge or its host failed, so the POST does not count as an attempt. */
export interface PostResult {
  outcome: "delivered" | "failed" | "gone" | "own_fault";
  status: number | null;
  /** Short name of the failure; null if delivered. */
  error: string | null;
  retryAfterMs: number | null;
  /** Null without a response, or if no excerpts are read. */
  excerpt: Pick<ExcerptReader, "read"> | null;
  /** Resolves when the rest of the response has been read or aborted. Until then it occupies its connection, but no slot. */
  drained: Promise<void>;
}

const RESPONSE_LIMIT_BYTES = 64 * 1024;
const USER_AGENT = `bridge/${packageJson.version}`;

const stoppedByShutdown: PostResult = {
  outcome: "own_fault",
  status: null,
  error: "shutdown",
  retryAfterMs: null,
  excerpt: null,
  drained: Promise.resolve(),
};

/** Makes attempts to deliver posts. */
export interface Poster<Post extends DuePost> {
  /** Makes one attempt: one POST that follows no redirect. Never rejects; resolves when the status of the response is known. */
  post(post: Post): Promise<PostResult>;
}

/** Creates a poster. */
export function createPoster<Post extends DuePost>(options: PostOptions<Post>): Poster<Post> {
  const { dispatcher, dnsCache, toEnvelope, shutdown, timeoutMs, clock, readsExcerpts = false } = options;
  /** The attempts in progress. One listener aborts them all, because each further listener of a signal takes longer to add. */
  const attempts = new Set<AbortController>();
  const draining = createDrainingAnswers();
  shutdown.addEventListener("abort", () => {
    for (const attempt of attempts) attempt.abort();
  });

  function startAttempt() {
    const controller = new AbortController();
    attempts.add(controller);
    const deadline = startDeadline(() => controller.abort(), timeoutMs);
    return {
      signal: controller.signal,
      abort: (): void => controller.abort(),
      end(): void {
        deadline.cancel();
        attempts.delete(controller);
      },
    };
  }

  async function post(post: Post): Promise<PostResult> {
    const url = new URL(post.url);
    let lookup: Promise<void> | null = null;
    try {
      // The receiver's deadline starts after the wait for a lookup slot, because Bridge causes this wait.
      if (!dnsCache.isReady(url.hostname)) lookup = (await dnsCache.prepare(post.tenant, url.hostname, shutdown)).found;
      shutdown.throwIfAborted();
    } catch {
      return stoppedByShutdown;
    }
    const { signal, abort, end } = startAttempt();
    const source = createBodySource(post);
    try {
      if (lookup !== null) await rejectOnAbort(lookup, signal);
      const envelope = toEnvelope(post);
      const { headers, body } =
        source.read === null ? signWhole(post.body, envelope, clock()) : await signParts(source.read, envelope, clock(), signal);
      const excerpt = readsExcerpts ? createExcerptReader() : undefined;
      const limits = { signal, responseLimitBytes: RESPONSE_LIMIT_BYTES };
      const { response, ended } = startHttpPost(dispatcher, { url, headers, body, excerpt, ...limits });
      const { status, headers: responseHeaders } = await response;
      const drained = ended.then(end);
      if (!draining.add(url.origin, drained)) abort();
      return { ...toOutcome(status, responseHeaders["retry-after"], clock()), excerpt: excerpt ?? null, drained };
    } catch (error) {
      const timedOut = signal.aborted;
      end();
      if (shutdown.aborted) return stoppedByShutdown;
      return {
        outcome: source.isUnreadable() || isOwnFault(error) ? "own_fault" : "failed",
        status: null,
        error: source.isUnreadable() ? "body_unreadable" : timedOut ? "timeout" : classifyFailure(error),
        retryAfterMs: null,
        excerpt: null,
        drained: Promise.resolve(),
      };
    }
  }

  return { post };
}

/** Reads a long body in parts. `read` is null for a short body. */
interface BodySource {
  read: (() => AsyncIterable<Buffer>) | null;
  /** Whether the store failed to read it. */
  isUnreadable(): boolean;
}

function createBodySource({ readBody }: DuePost): BodySource {
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

/** The headers and the body of an attempt. */
interface SignedRequest {
  headers: Record<string, string>;
  body: Buffer | Readable;
}

function signWhole(text: string, envelope: Envelope, now: number): SignedRequest {
  const body = Buffer.from(text);
  const { head, signature } = startRequest(envelope, now);
  signature.update(body);
  return { headers: buildHeaders(envelope, head, body.length, signature.end()), body };
}

/** A long body is read twice, for its signature and for the receiver, and never held in memory as a whole. */
async function signParts(read: () => AsyncIterable<Buffer>, envelope: Envelope, now: number, signal: AbortSignal): Promise<SignedRequest> {
  const { head, signature } = startRequest(envelope, now);
  let bytes = 0;
  for await (const part of read()) {
    bytes += part.length;
    signature.update(part);
    signal.throwIfAborted();
  }
  return { headers: buildHeaders(envelope, head, bytes, signature.end()), body: Readable.from(read(), { objectMode: false }) };
}

function startRequest({ id, signingKeys }: Envelope, now: number) {
  const head = { id, timestampSeconds: Math.floor(now / 1000) };
  return { head, signature: startSignature(head, signingKeys) };
}

function buildHeaders(envelope: Envelope, head: SignedHead, bytes: number, signature: string): Record<string, string> {
  const headers: Record<string, string> = {
    ...envelope.headers,
    "content-type": "application/json",
    "content-length": String(bytes),
    "user-agent": USER_AGENT,
    "webhook-id": head.id,
    "webhook-timestamp": String(head.timestampSeconds),
  };
  // Empty without keys.
  if (signature !== "") headers["webhook-signature"] = signature;
  return headers;
}

function toOutcome(status: number, retryAfter: string | string[] | undefined, now: number): Omit<PostResult, "drained" | "excerpt"> {
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
