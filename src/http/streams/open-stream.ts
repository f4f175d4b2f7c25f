import type { OutgoingHttpHeaders } from "node:http";
import type {} from "@fastify/sse";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AdapterLogger } from "#contract";
import { type ClientMemory, PAGE_BYTES } from "../../access/client-memory.ts";
import type { Principal } from "../../access/principal.ts";
import type { EventFeed, EventStore, StoredEvent } from "../../events/event-feed.ts";
import { formatEventId } from "../../events/event-id.ts";
import type { EventLog } from "../../events/event-log.ts";
import { type EventPosition, followEvents } from "../../events/follow-events.ts";
import type { Metrics } from "../../metrics.ts";
import { startWallClockTimer } from "../../timers/wall-clock-timer.ts";
import { encodeSseFrame } from "../wire/encode-event.ts";
import type { RequestTurns } from "../wire/request-turns.ts";
import type { StreamFormat, StreamFormats } from "./stream-formats.ts";
import { createStreamWriter } from "./stream-writer.ts";

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

/** The parts that a stream uses, and its times. */
export interface StreamParts {
  store: EventStore;
  eventLog: EventLog;
  clientMemory: ClientMemory;
  requestTurns: RequestTurns;
  formats: StreamFormats;
  metrics: Metrics;
  logger: AdapterLogger;
  clock(): number;
  heartbeatMs: number;
  closeGraceMs: number;
  replayTimeoutMs: number;
}

/** The open stream of one client. */
export interface OpenStream {
  principal: Principal;
  close(reason: ClosingReason): Promise<void>;
}

/** Responds to a request with a stream of events, which ends when the client disconnects. */
export function openStream(request: FastifyRequest, reply: FastifyReply, options: StreamOptions, parts: StreamParts): OpenStream {
  const { feed, from, isLast, format = "event" } = options;
  const { store, eventLog, clientMemory, requestTurns, formats, metrics, logger, clock, heartbeatMs, closeGraceMs, replayTimeoutMs } =
    parts;
  const { encode, share } = formats[format];
  const { principal } = request;
  const { tenant, name, expiresAt } = principal;
  const { raw } = reply;
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
  const expiry = expiresAt === null ? undefined : startWallClockTimer(expiresAt, clock, () => void close("token_expired"));
  raw.once("close", () => {
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
    if (!(await writer.waitForDrain(replayTimeoutMs))) return disconnectSlowClient();
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
    else disconnectSlowClient();
  }

  function disconnectSlowClient(): void {
    metrics.sseSlowDisconnects.inc();
    logger.warn({ tenant, principal: name }, "event stream client disconnected because it did not keep up");
    ended.abort();
    raw.destroy();
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

  return { principal, close };
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
