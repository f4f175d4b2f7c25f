import type { FastifyReply, FastifyRequest } from "fastify";
import { derivesFrom, type Principal } from "../../access/principal.ts";
import { BridgeError } from "../../errors.ts";
import { type ClosingReason, type OpenStream, openStream, type StreamOptions, type StreamParts } from "./open-stream.ts";
import { createStreamFormats } from "./stream-formats.ts";

/** Maximum open streams of one tenant, so that a client that leaks streams does not exhaust the server. */
export const MAX_STREAMS_PER_TENANT = 2000;

type Times = "clock" | "heartbeatMs" | "closeGraceMs" | "replayTimeoutMs";

/** Options of the streams; the times are for tests. */
export interface EventStreamsOptions extends Omit<StreamParts, "formats" | Times>, Partial<Pick<StreamParts, Times>> {}

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Creates the registry of all open event streams. */
export function createEventStreams(options: EventStreamsOptions) {
  const { eventLog, clientMemory, metrics } = options;
  const formats = createStreamFormats({ formatId: eventLog.formatId, clientMemory });
  const parts = { clock: Date.now, heartbeatMs: 15_000, closeGraceMs: 2000, replayTimeoutMs: 120_000, ...options, formats };
  const streams = new Set<OpenStream>();
  let isClosing = false;

  /** Responds to the request with a stream. Throws BridgeError `draining` or `overloaded` before the response starts. */
  function open(request: FastifyRequest, reply: FastifyReply, options: StreamOptions): void {
    checkCanOpen(request.principal.tenant);
    if (reply.raw.destroyed) return;
    const stream = openStream(request, reply, options, parts);
    streams.add(stream);
    metrics.sseClients.inc();
    reply.raw.once("close", () => {
      streams.delete(stream);
      metrics.sseClients.dec();
    });
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
