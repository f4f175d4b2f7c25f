import type { ServerResponse } from "node:http";
import { withTimeout } from "@hak2i/async-kit";
import type { Reservation } from "../wire/client-memory.ts";

/** Limits of the live events that wait for one client, in addition to the buffers of its connection. */
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_WAITING_EVENTS = 1000;
/** Frames of up to this total size are copied into one buffer. */
const MAX_COPIED_BYTES = 64 * 1024;

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
  let waitingBytes = 0;
  let waitingEvents = 0;
  const heartbeat = setTimeout(beat, heartbeatMs).unref();
  raw.once("close", () => {
    clearTimeout(heartbeat);
    reservation.release();
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
  function writeOwn(chunk: string | Buffer, onSent?: () => void): boolean {
    const bytes = Buffer.byteLength(chunk);
    reservation.set(reservation.bytes + bytes);
    return write(chunk, () => {
      reservation.set(reservation.bytes - bytes);
      onSent?.();
    });
  }

  /** Writes all frames without waiting. Returns false, and writes nothing, if the client is behind. */
  function writeLive(frames: readonly Buffer[]): boolean {
    const count = frames.length;
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
    // A single large commit does not make a client slow: it is slow only if it has not read the previous events.
    const isBehind =
      waitingEvents > 0 && (waitingEvents + count > MAX_WAITING_EVENTS || waitingBytes + bytes > MAX_WAITING_BYTES || isFull());
    if (isBehind) return false;
    waitingEvents += count;
    waitingBytes += bytes;
    writeAll(frames, bytes, () => {
      waitingEvents -= count;
      waitingBytes -= bytes;
    });
    return true;
  }

  /**
   * Copies small frames into one buffer, which is fastest. Large frames share their buffers with other streams, which
   * saves memory while they wait.
   */
  function writeAll(frames: readonly Buffer[], bytes: number, onSent: () => void): void {
    if (bytes <= MAX_COPIED_BYTES) {
      writeOwn(Buffer.concat(frames, bytes), onSent);
      return;
    }
    raw.cork();
    for (const [index, frame] of frames.entries()) write(frame, index === frames.length - 1 ? onSent : undefined);
    raw.uncork();
  }

  function isOpen(): boolean {
    return !raw.writableEnded && !raw.destroyed;
  }

  return {
    /** Writes data. If it returns false, call `waitForDrain` before the next write. */
    write: (chunk: string | Buffer): boolean => writeOwn(chunk),
    writeLive,
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
