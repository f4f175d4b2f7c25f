import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BridgeError } from "../../errors.ts";
import { type HeldBytes, type Hold, UNCOUNTED_BYTES } from "../wire/held-bytes.ts";

/** A client that reads nothing for this long is disconnected, because it occupies memory or keeps a file open. */
export const STALLED_READER_MS = 60_000;

/** The tenant of requests without a token, such as those for the documentation. */
const PUBLIC = "";

/** Options of the hooks. */
interface HoldOptions {
  heldBytes: HeldBytes;
  bodyLimitBytes: number;
  stalledReaderMs?: number;
}

/**
 * Limits the memory that requests and answers occupy, and disconnects clients that stop reading. While a tenant is over its limit, its requests wait
 * for room. Small requests of other tenants are not counted.
 */
export function holdRequests(app: FastifyInstance, { heldBytes, bodyLimitBytes, stalledReaderMs = STALLED_READER_MS }: HoldOptions): void {
  app.decorateRequest("hold", null);

  app.addHook("onRequest", (request, reply, done) => {
    const tenant = tenantOf(request);
    const bytes = bodyBytes(request, bodyLimitBytes);
    if (tenant === PUBLIC || (bytes < UNCOUNTED_BYTES && !heldBytes.isFull(tenant))) return done();
    // Before the body is read, so that the body of a waiting request stays in the network.
    openHold(heldBytes, request, reply)
      .reserve(bytes)
      .then(() => done(), done);
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    const bytes = payloadBytes(payload);
    // If data already waits on the connection, even a small answer waits behind it.
    if (bytes < UNCOUNTED_BYTES && !(request.raw.socket.writableLength > 0)) return done(null, payload);
    if (bytes >= UNCOUNTED_BYTES && tenantOf(request) === PUBLIC && heldBytes.isFull(PUBLIC))
      return done(new BridgeError("overloaded", "Too many answers on this connection are unread. Read them, then try again."));
    const hold = request.hold ?? openHold(heldBytes, request, reply);
    hold.set(Math.max(hold.bytes, bytes));
    reply.raw.setTimeout(stalledReaderMs, () => {
      request.log.warn(
        { tenant: tenantOf(request), route: request.routeOptions.url },
        "a client did not read its answer and was disconnected",
      );
      reply.raw.destroy();
    });
    done(null, payload);
  });

  /** Reserves room for an answer before it is built. */
  app.decorateRequest("reserve", async function (this: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void> {
    if (bytes >= UNCOUNTED_BYTES) await (this.hold ?? openHold(heldBytes, this, reply)).reserve(bytes);
  });
}

function openHold(heldBytes: HeldBytes, request: FastifyRequest, reply: FastifyReply): Hold {
  const hold = heldBytes.open(tenantOf(request));
  request.hold = hold;
  reply.raw.once("close", hold.release);
  if (reply.raw.closed) hold.release();
  return hold;
}

const tenantOf = (request: FastifyRequest): string => (request.principal as FastifyRequest["principal"] | null)?.tenant ?? PUBLIC;

/** The declared length of the body; the limit when it declares none. */
function bodyBytes({ headers }: FastifyRequest, limitBytes: number): number {
  if (headers["transfer-encoding"] !== undefined) return limitBytes;
  return Math.min(Number(headers["content-length"] ?? 0) || 0, limitBytes);
}

/** Bytes that an answer occupies until it is read. A stream occupies its read-ahead buffer, and the connection the same amount again. */
function payloadBytes(payload: unknown): number {
  if (typeof payload === "string") return payload.length < UNCOUNTED_BYTES / 4 ? payload.length : Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return payload instanceof Readable ? 2 * payload.readableHighWaterMark : 0;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The memory that this request and its answer occupy; null while it is too little to count. */
    hold: Hold | null;
    /** Waits until there is room for an answer of this many bytes; throws `overloaded`. */
    reserve(reply: FastifyReply, bytes: number): Promise<void>;
  }
}
