import type { ServerResponse } from "node:http";
import { withTimeout } from "@hak2i/async-kit";
import type { Reservation } from "../../access/client-memory.ts";
import { checkHalfClosed } from "../wire/half-closed.ts";
import type { SharedEvents } from "./shared-events.ts";
import { createWaitingEvents } from "./waiting-events.ts";

/** Options of a writer. */
export interface StreamWriterOptions {
  /** A comment is sent after this time without other data. */
  heartbeatMs: number;
  /** Counts the bytes that wait for this client only. */
  reservation: Reservation;
  /** Whether the client's tenant has reached its memory limit. */
  isFull(): boolean;
}

/** Creates the writer of one event stream whose headers have been sent. It limits the data that waits for the client. */
export function createStreamWriter(raw: ServerResponse, { heartbeatMs, reservation, isFull }: StreamWriterOptions) {
  const waiting = createWaitingEvents();
  /** Bytes that are reserved for the next page. */
  let pageBytes = 0;
  const heartbeat = setTimeout(beat, heartbeatMs).unref();
  const stopChecks = checkHalfClosed(raw.req.socket, beat);
  raw.once("close", () => {
    clearTimeout(heartbeat);
    stopChecks();
    reservation.release();
    waiting.releaseAll();
  });

  function beat(): void {
    // A client that has not read the previous data needs no heartbeat.
    if (!raw.writableNeedDrain && isOpen()) raw.write(": heartbeat\n\n");
    heartbeat.refresh();
  }

  function write(chunk: string | Buffer, onSent?: () => void): boolean {
    if (!isOpen()) return false;
    heartbeat.refresh();
    return raw.write(chunk, onSent);
  }

  /** Writes data that no other stream shares, and counts it in the reservation. */
  function writeOwn(chunk: string | Buffer): boolean {
    const bytes = Buffer.byteLength(chunk);
    reservation.set(reservation.bytes + bytes);
    return write(chunk, () => reservation.set(reservation.bytes - bytes));
  }

  /** Waits until the memory for a page is available, or the client has disconnected. */
  async function reserve(bytes: number): Promise<void> {
    try {
      await reservation.reserve(bytes - pageBytes, Number.POSITIVE_INFINITY);
      pageBytes = bytes;
    } catch {
      // The client has disconnected, which released the reservation.
    }
  }

  /** Writes a page, or nothing, and releases what was reserved for it. Returns whether the client can receive more. */
  function writeReserved(page: Buffer | null): boolean {
    if (page !== null) writeOwn(page);
    reservation.set(reservation.bytes - pageBytes);
    pageBytes = 0;
    return isOpen() && !raw.writableNeedDrain;
  }

  /** Writes the events without waiting. Returns false, and writes nothing, if the client is behind. */
  function writeLive(events: SharedEvents): boolean {
    if (waiting.isBehind(events, isFull)) return false;
    if (!isOpen()) return true;
    const { buffers } = events;
    waiting.add(events);
    if (buffers.length > 1) raw.cork();
    for (const [index, buffer] of buffers.entries()) write(buffer, index === buffers.length - 1 ? waiting.releaseFirst : undefined);
    if (buffers.length > 1) raw.uncork();
    return true;
  }

  function isOpen(): boolean {
    return !raw.writableEnded && !raw.destroyed;
  }

  return {
    /** Writes data, without waiting. */
    write: writeOwn,
    writeLive,
    reserve,
    writeReserved,
    /** Resolves to true when the client can receive more or has disconnected; to false after the time limit. */
    async waitForDrain(timeoutMs: number): Promise<boolean> {
      if (!raw.writableNeedDrain) return true;
      return resolvesWithin(timeoutMs, waitForFirst(raw, ["drain", "close", "error"]));
    },
    /** Ends the stream. Further calls have no effect. */
    end(lastChunk?: string): void {
      if (!isOpen()) return;
      if (lastChunk !== undefined) raw.write(lastChunk);
      raw.end();
    },
    /** Resolves when all data was passed to the connection; after the grace period, closes the connection. */
    async waitForFinish(graceMs: number): Promise<void> {
      if (raw.writableFinished || raw.destroyed) return;
      if (!(await resolvesWithin(graceMs, waitForFirst(raw, ["finish", "close", "error"])))) raw.destroy();
    },
  };
}

const resolvesWithin = (limitMs: number, event: Promise<void>): Promise<boolean> =>
  withTimeout(
    event.then(() => true),
    limitMs,
    () => false,
  );

function waitForFirst(raw: ServerResponse, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const event of events) raw.off(event, settle);
      resolve();
    };
    for (const event of events) raw.on(event, settle);
  });
}
