import { Readable } from "node:stream";
import { rejectOnAbort } from "@hak2i/async-kit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ClientMemory, type Reservation, UNCOUNTED_BYTES } from "../../access/client-memory.ts";
import { BridgeError } from "../../errors.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { isDocument } from "../wire/encoded-document.ts";
import { PUBLIC_TENANT, tenantOf } from "./tenant-of.ts";

/** A client that reads nothing for this long is disconnected, because it occupies memory or keeps a file open. */
export const STALLED_READER_MS = 60_000;

/** Options of `limitMemory`. */
interface MemoryLimitOptions {
  clientMemory: ClientMemory;
  bodyLimitBytes: number;
  stalledReaderMs?: number;
}

/**
 * Limits the memory that requests and responses occupy, and disconnects clients that stop reading. While a tenant is
 * over its limit, its requests wait until memory is available. Small requests of other tenants are not counted.
 */
export function limitMemory(
  app: FastifyInstance,
  { clientMemory, bodyLimitBytes, stalledReaderMs = STALLED_READER_MS }: MemoryLimitOptions,
): void {
  app.decorateRequest("reservation", null);
  app.decorateRequest("valuesReservation", null);
  app.decorateRequest("handled", null);

  app.addHook("onRequest", (request, reply, done) => {
    const tenant = tenantOf(request);
    const bytes = estimateBodyBytes(request, bodyLimitBytes);
    if (tenant === PUBLIC_TENANT || (bytes < UNCOUNTED_BYTES && !clientMemory.isFull(tenant))) return done();
    // Reserves before Bridge reads the body, so that a waiting request occupies no memory.
    openReservation(clientMemory, request, reply)
      .reserve(bytes)
      .then(() => done(), done);
  });

  app.addHook("onRoute", (route) => {
    const { handler } = route;
    route.handler = function (this, request, reply) {
      const result: unknown = handler.call(this, request, reply);
      if (result instanceof Promise) {
        request.handled = result;
        // A handler can end without `onSend`.
        releaseAfterHandler(request, request.valuesReservation);
      }
      return result;
    };
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    request.valuesReservation?.release();
    const isStream = payload instanceof Readable;
    // All clients share the bytes of a document.
    const bytes = isDocument(payload) ? 0 : estimatePayloadBytes(payload);
    // What was reserved to build the response is free, except for the parts of a stream, which are read while it is sent.
    const reservedBytes = isStream ? Math.max(request.reservation?.bytes ?? 0, bytes) : bytes;
    const mayBlock = isStream || isDocument(payload) || bytes >= UNCOUNTED_BYTES;
    // If the connection has unread data, even a small response waits behind it.
    if (!mayBlock && !(request.raw.socket.writableLength > 0)) {
      request.reservation?.set(0);
      return done(null, payload);
    }
    if (bytes >= UNCOUNTED_BYTES && tenantOf(request) === PUBLIC_TENANT && clientMemory.isFull(PUBLIC_TENANT))
      return done(
        new BridgeError(
          "overloaded",
          "Unread responses to requests without a token occupy too much memory. Read the open responses, then try again.",
        ),
      );
    (request.reservation ?? openReservation(clientMemory, request, reply)).set(reservedBytes);
    reply.raw.setTimeout(stalledReaderMs, () => {
      request.log.warn(
        { tenant: tenantOf(request), route: request.routeOptions.url },
        "client disconnected because it did not read its response",
      );
      reply.raw.destroy();
    });
    done(null, payload);
  });

  app.decorateRequest("reserveValues", async function (this: FastifyRequest, bytes: number): Promise<void> {
    if (bytes < UNCOUNTED_BYTES) return;
    const reservation = clientMemory.values.open(tenantOf(this));
    const { socket } = this.raw;
    this.valuesReservation = reservation;
    // A request whose client has disconnected needs no place in the queue.
    socket.once("close", reservation.release);
    await reservation.reserve(bytes).finally(() => socket.off("close", reservation.release));
  });

  app.decorateRequest("reserve", async function (this: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void> {
    if (bytes < UNCOUNTED_BYTES) return;
    const reservation = this.reservation ?? openReservation(clientMemory, this, reply);
    // The reservation itself is released when the handler has ended.
    await rejectOnAbort(reservation.reserve(bytes), createClosedSignal(reply));
  });
}

function openReservation(clientMemory: ClientMemory, request: FastifyRequest, reply: FastifyReply): Reservation {
  const reservation = clientMemory.open(tenantOf(request));
  request.reservation = reservation;
  const release = (): void => releaseAfterHandler(request, reservation);
  reply.raw.once("close", release);
  if (reply.raw.closed) release();
  return reservation;
}

/** Releases memory when the handler has ended, which can work on the body after its client has disconnected. */
function releaseAfterHandler({ handled }: FastifyRequest, reservation: Reservation | null): void {
  if (reservation === null) return;
  if (handled === null) reservation.release();
  else void handled.then(reservation.release, reservation.release);
}

/** Returns the declared length of the body; the limit if the request declares none. */
function estimateBodyBytes({ headers }: FastifyRequest, limitBytes: number): number {
  if (headers["transfer-encoding"] !== undefined) return limitBytes;
  return Math.min(Number(headers["content-length"] ?? 0) || 0, limitBytes);
}

/**
 * Estimates the bytes that a response occupies until it is read. A stream occupies its read-ahead buffer, and the connection the same
 * amount again.
 */
function estimatePayloadBytes(payload: unknown): number {
  if (typeof payload === "string") return payload.length < UNCOUNTED_BYTES / 4 ? payload.length : Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return payload instanceof Readable ? 2 * payload.readableHighWaterMark : 0;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The memory that this request and its response occupy; null while it is too little to count. */
    reservation: Reservation | null;
    /** The memory that the values of the body occupy until the request is answered; null while it is too little to count. */
    valuesReservation: Reservation | null;
    /** Settles when the handler has ended; null until it has started. */
    handled: Promise<unknown> | null;
    /** Reserves memory for the values of the body before it is parsed. Throws BridgeError `overloaded`. */
    reserveValues(bytes: number): Promise<void>;
    /**
     * Reserves memory for a response of this many bytes before it is built. Throws BridgeError `overloaded`, also if the client
     * disconnects.
     */
    reserve(reply: FastifyReply, bytes: number): Promise<void>;
  }
}
