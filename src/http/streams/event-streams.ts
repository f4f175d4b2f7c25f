import type { OutgoingHttpHeaders } from "node:http";
import type {} from "@fastify/sse";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AdapterLogger } from "#contract";
import { type ClientMemory, PAGE_BYTES } from "../../access/client-memory.ts";
import { derivesFrom, type Principal } from "../../access/principal.ts";
import { BridgeError } from "../../errors.ts";
import type { EventFeed, EventStore, StoredEvent } from "../../events/event-feed.ts";
import { formatEventId } from "../../events/event-id.ts";
import type { EventLog } from "../../events/event-log.ts";
import { type EventPosition, followEvents } from "../../events/follow-events.ts";
import type { Metrics } from "../../metrics.ts";
import { startWallClockTimer } from "../../timers/wall-clock-timer.ts";
import { encodeSseFrame } from "../wire/encode-event.ts";
import type { RequestTurns } from "../wire/request-turns.ts";
import { disconnectSlowClient } from "./slow-client.ts";
import { createStreamFormats, type StreamFormat } from "./stream-formats.ts";
import { createStreamWriter } from "./stream-writer.ts";

/** Maximum open streams of one tenant, so that a client that leaks streams does not exhaust the server. */
export const MAX_STREAMS_PER_TENANT = 2000;

/** Why Bridge ends a stream. */
export type ClosingReason = "shutdown" | "token_expired" | "token_withdrawn";

/** The events that a stream sends. */
export interface StreamOptions {
  feed: EventFeed;
  from: EventPosition;
  /** Default: `event`. */
  format?: StreamFormat;
  /** Whether the stream ends after this event. Default: never. */
  isLast?: (event: StoredEvent) => boolean;
}

/** Options of the streams; the times are for tests. */
export interface EventStreamsOptions {
  store: EventStore;
  eventLog: EventLog;
  clientMemory: ClientMemory;
  requestTurns: RequestTurns;
  metrics: Metrics;
  logger: AdapterLogger;
  clock?: () => number;
  heartbeatMs?: number;
  closeGraceMs?: number;
  replayTimeoutMs?: number;
}

interface OpenStream {
  principal: Principal;
  close(reason: ClosingReason): Promise<void>;
}

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Creates the registry of all open event streams. */
export function createEventStreams({
  store,
  eventLog,
  clientMemory,
  requestTurns,
  metrics,
  logger,
  clock = Date.now,
  heartbeatMs = 15_000,
  closeGraceMs = 2000,
  replayTimeoutMs = 120_000,
}: EventStreamsOptions) {
  const formats = createStreamFormats({ formatId: eventLog.formatId, clientMemory });
  const streams = new Set<OpenStream>();
  let isClosing = false;

  /** Responds to the request with a stream. Throws BridgeError `draining` or `overloaded` before the response starts. */
  function open(request: FastifyRequest, reply: FastifyReply, { feed, from, isLast, format = "event" }: StreamOptions): void {
    const { encode, share } = formats[format];
    const { principal } = request;
    const { tenant, name, expiresAt } = principal;
    checkCanOpen(tenant);
    const { raw } = reply;
    if (raw.destroyed) return;
    sendHeaders(reply);
    const writer = createStreamWriter(raw, {
      heartbeatMs,
      reservation: clientMemory.open(tenant),
      isFull: () => clientMemory.isFull(tenant),
    });
    // Node sends the headers with the first bytes, so a stream without events would look like a server that does not respond. The id lets a
    // client that disconnects before its first event resume at this position.
    const id = from === null ? "" : `id: ${formatEventId(from)}\n`;
    writer.write(`retry: 3000\n: connected\n${id}\n`);
    const ended = new AbortController();
    const stream: OpenStream = { principal, close };
    streams.add(stream);
    metrics.sseClients.inc();
    const expiry = expiresAt === null ? undefined : startWallClockTimer(expiresAt, clock, () => void close("token_expired"));
    raw.once("close", () => {
      streams.delete(stream);
      metrics.sseClients.dec();
      expiry?.cancel();
      ended.abort();
    });

    void followEvents(
      { store, eventLog, feed },
      { from, follower: { onGap, waitForRoom, onReplay, onLive, onFeedEnd: end, onError }, signal: ended.signal },
    );

    function onGap(oldest: number | null): void {
      const oldestId = oldest === null ? null : eventLog.formatId(oldest);
      writer.write(encodeSseFrame({ event: "stream.gap", data: JSON.stringify({ oldestId }) }));
    }

    /** A replay waits for its client, but disconnects a client that reads nothing within the time limit. */
    async function waitForRoom(): Promise<void> {
      if (!(await writer.waitForDrain(replayTimeoutMs)))
        return disconnectSlowClient({ principal, ended, response: raw }, { metrics, logger });
      await writer.reserve(PAGE_BYTES);
      await requestTurns.take(tenant);
    }

    function onReplay(events: readonly StoredEvent[]): boolean {
      const hasRoom = writer.writeReserved(events.length === 0 ? null : encode(events));
      endAfter(events);
      return hasRoom;
    }

    function onLive(events: readonly StoredEvent[]): void {
      if (writer.writeLive(share(events))) endAfter(events);
      else disconnectSlowClient({ principal, ended, response: raw }, { metrics, logger });
    }

    function endAfter(events: readonly StoredEvent[]): void {
      if (isLast !== undefined && events.some(isLast)) end();
    }

    function onError(error: unknown): void {
      logger.error({ err: error, tenant, principal: name }, "event stream failed");
      raw.destroy();
    }

    function end(): void {
      ended.abort();
      writer.end();
    }

    async function close(reason: ClosingReason): Promise<void> {
      ended.abort();
      writer.end(encodeSseFrame({ event: "stream.closing", data: JSON.stringify({ reason }) }));
      await writer.waitForFinish(closeGraceMs);
    }
  }

  function checkCanOpen(tenant: string): void {
    if (isClosing) throw new BridgeError("draining", "Bridge is stopping.");
    let count = 0;
    for (const stream of streams) if (stream.principal.tenant === tenant) count += 1;
    if (count >= MAX_STREAMS_PER_TENANT)
      throw new BridgeError(
        "overloaded",
        `This tenant has the maximum of ${MAX_STREAMS_PER_TENANT} open event streams. Close one, then try again.`,
      );
  }

  return {
    open,
    /** Ends the streams of a principal whose token was revoked. */
    disconnect(principal: Principal): void {
      for (const stream of streams) if (derivesFrom(stream.principal, principal)) void stream.close("token_withdrawn");
    },
    /** Ends all streams. Call it in a `preClose` hook, because a server does not close while a stream is open. */
    async closeAll(reason: ClosingReason): Promise<void> {
      isClosing = true;
      await Promise.all([...streams].map((stream) => stream.close(reason)));
    },
  };
}

/**
 * Sets the headers of the stream in one call, and sends them before any data. Otherwise Node would keep the single headers and the combined
 * text of headers and data in memory, about 4 KiB while the stream is open.
 */
function sendHeaders(reply: FastifyReply): void {
  const { raw } = reply;
  reply.sse.keepAlive();
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    connection: "keep-alive",
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
}
