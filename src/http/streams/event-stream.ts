import type {} from "@fastify/sse";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AdapterLogger } from "#contract";
import { callAt } from "../../access/call-at.ts";
import { comesFrom, type Principal } from "../../access/principal.ts";
import { BridgeError } from "../../errors.ts";
import type { EventFeed, EventStore, StoredEvent } from "../../events/event-feed.ts";
import type { EventLog } from "../../events/event-log.ts";
import { type EventPosition, followEvents } from "../../events/follow-events.ts";
import type { Metrics } from "../../metrics.ts";
import { createEventEncoder, encodeFrame } from "../wire/event-frame.ts";
import type { HeldBytes } from "../wire/held-bytes.ts";
import { createStreamWriter } from "./stream-writer.ts";

/** How many streams one tenant may hold open: enough for its clients, and an end to a client that leaks them. */
export const MAX_STREAMS_PER_TENANT = 2000;

/** Why Bridge ends a stream that has no end of its own. */
export type ClosingReason = "shutdown" | "token_expired" | "token_withdrawn";

/** What one reader gets. */
export interface StreamOptions {
  feed: EventFeed;
  from: EventPosition;
  /** The stream ends after this event; default: never. */
  isLast?: (event: StoredEvent) => boolean;
}

/** All open event streams. */
export interface EventStreams {
  /** Answers the request with a stream. Throws, before anything is sent, when there is no room for it. */
  open(request: FastifyRequest, reply: FastifyReply, options: StreamOptions): void;
  /** Ends the streams of a principal whose token is taken back. */
  withdraw(principal: Principal): void;
  /** Ends all streams, for a `preClose` hook: a server does not close while one is open. */
  closeAll(reason: ClosingReason): Promise<void>;
}

/** What the streams are made of; the times are for tests. */
export interface EventStreamsOptions {
  store: EventStore;
  eventLog: EventLog;
  heldBytes: HeldBytes;
  metrics: Metrics;
  logger: AdapterLogger;
  clock?: () => number;
  heartbeatMs?: number;
  closeGraceMs?: number;
  replayPatienceMs?: number;
}

interface OpenStream {
  principal: Principal;
  close(reason: ClosingReason): Promise<void>;
}

/** Creates the registry of event streams. */
export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const {
    store,
    eventLog,
    heldBytes,
    metrics,
    logger,
    clock = Date.now,
    heartbeatMs = 15_000,
    closeGraceMs = 2000,
    replayPatienceMs = 120_000,
  } = options;
  const encode = createEventEncoder(eventLog.formatId);
  const streams = new Set<OpenStream>();
  let closing = false;

  function open(request: FastifyRequest, reply: FastifyReply, { feed, from, isLast = () => false }: StreamOptions): void {
    const { principal } = request;
    const { tenant, name, expiresAt } = principal;
    admit(tenant);
    const { raw } = reply;
    if (raw.destroyed) return;
    sendHead(reply);
    const writer = createStreamWriter(raw, { heartbeatMs, hold: heldBytes.open(tenant), isFull: () => heldBytes.isFull(tenant) });
    // The first bytes carry the headers out: without them a quiet stream looks like a server that does not answer. They name the
    // place too, so that a reader who is cut off before its first event comes back to where it was, and not to a later present.
    const place = from === null ? "" : `id: ${eventLog.formatId(from)}\n`;
    writer.write(`retry: 3000\n: connected\n${place}\n`);
    const over = new AbortController();
    const stream: OpenStream = { principal, close };
    streams.add(stream);
    metrics.sseClients.inc();
    const expiry = expiresAt === null ? undefined : callAt(expiresAt, clock, () => void close("token_expired"));
    raw.once("close", () => {
      streams.delete(stream);
      metrics.sseClients.dec();
      expiry?.cancel();
      over.abort();
    });

    followEvents({ store, eventLog, feed }, { from, follower: { gap, replay, drained, live, over: end }, signal: over.signal }).catch(
      (error: unknown) => {
        logger.error({ err: error, tenant, principal: name }, "an event stream failed");
        raw.destroy();
      },
    );

    function gap(oldest: number | null): void {
      writer.write(
        encodeFrame({ event: "stream.gap", data: JSON.stringify({ oldestId: oldest === null ? null : eventLog.formatId(oldest) }) }),
      );
    }

    function replay(events: readonly StoredEvent[]): boolean {
      const hasRoom = events.length === 0 || writer.write(Buffer.concat(events.map(encode)));
      endAfter(events);
      return hasRoom;
    }

    /** A replay goes at the reader's own pace, but one that takes nothing at all holds its page for nobody. */
    async function drained(): Promise<void> {
      if (!(await writer.drained(replayPatienceMs))) cutOff();
    }

    function live(events: readonly StoredEvent[]): void {
      if (writer.writeLive(events.map(encode))) endAfter(events);
      else cutOff();
    }

    function cutOff(): void {
      metrics.sseSlowDisconnects.inc();
      logger.warn({ tenant, principal: name }, "a reader of events did not keep up and was disconnected");
      over.abort();
      raw.destroy();
    }

    function endAfter(events: readonly StoredEvent[]): void {
      if (events.some(isLast)) end();
    }

    function end(): void {
      over.abort();
      writer.end();
    }

    async function close(reason: ClosingReason): Promise<void> {
      over.abort();
      writer.end(encodeFrame({ event: "stream.closing", data: JSON.stringify({ reason }) }));
      await writer.finished(closeGraceMs);
    }
  }

  function admit(tenant: string): void {
    if (closing) throw new BridgeError("draining", "Bridge is stopping.");
    let count = 0;
    for (const stream of streams) if (stream.principal.tenant === tenant) count += 1;
    if (count >= MAX_STREAMS_PER_TENANT)
      throw new BridgeError("overloaded", `No more than ${MAX_STREAMS_PER_TENANT} event streams can be open at once.`);
  }

  return {
    open,
    withdraw(principal) {
      for (const stream of streams) if (comesFrom(stream.principal, principal)) void stream.close("token_withdrawn");
    },
    async closeAll(reason) {
      closing = true;
      await Promise.all([...streams].map((stream) => stream.close(reason)));
    },
  };
}

function sendHead(reply: FastifyReply): void {
  reply.header("Cache-Control", "no-cache, no-transform").header("X-Accel-Buffering", "no");
  reply.sse.keepAlive();
  reply.sse.sendHeaders();
}
