import type { ServerResponse } from "node:http";
import type { Reservation } from "../wire/client-memory.ts";

/** What may wait for one reader, beyond what its connection has taken. */
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_WAITING_EVENTS = 1000;
const MAX_COPIED_BYTES = 64 * 1024;

/** Writes a stream to one reader, within bounds. */
export interface StreamWriter {
  /** Writes at the reader's own pace. False: wait for `drained` before the next. */
  write(chunk: string | Buffer): boolean;
  /** Resolves when the reader can take more, or is gone. False when neither happens in this time. */
  drained(maxWaitMs: number): Promise<boolean>;
  /** Writes without waiting, all frames at once. False, and nothing written, when too much waits already. */
  writeLive(frames: readonly Buffer[]): boolean;
  /** Ends cleanly, once. */
  end(lastChunk?: string): void;
  /** Resolves when everything has been handed to the connection and ended; after the grace the connection is cut. */
  finished(graceMs: number): Promise<void>;
}

/** Limits of a writer. */
export interface StreamWriterOptions {
  heartbeatMs: number;
  /** Counts the bytes that wait for this reader only. */
  reservation: Reservation;
  /** Whether the reader's tenant has reached its memory limit. */
  isFull(): boolean;
}

/** Creates the writer of an answer whose headers have been sent. A comment goes out after `heartbeatMs` of silence. */
export function createStreamWriter(raw: ServerResponse, { heartbeatMs, reservation, isFull }: StreamWriterOptions): StreamWriter {
  let waitingBytes = 0;
  let waitingEvents = 0;
  const heartbeat = setTimeout(beat, heartbeatMs).unref();
  raw.once("close", () => {
    clearTimeout(heartbeat);
    reservation.release();
  });

  function beat(): void {
    // A reader that does not take what is there needs no more of it.
    if (!raw.writableNeedDrain && isOpen()) raw.write(": heartbeat\n\n");
    heartbeat.refresh();
  }

  function write(chunk: string | Buffer, onTaken?: () => void): boolean {
    if (!isOpen()) return false;
    heartbeat.refresh();
    return raw.write(chunk, onTaken);
  }

  /** For data that no other reader shares. */
  function writeOwn(chunk: string | Buffer, onTaken?: () => void): boolean {
    const bytes = Buffer.byteLength(chunk);
    reservation.set(reservation.bytes + bytes);
    return write(chunk, () => {
      reservation.set(reservation.bytes - bytes);
      onTaken?.();
    });
  }

  function writeLive(frames: readonly Buffer[]): boolean {
    const count = frames.length;
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
    // One large commit alone is no sign of a slow reader: only one that still has not taken the last is behind.
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

  /** A few bytes are fastest copied into one piece; many are shared with the other readers, so that waiting costs them once. */
  function writeAll(frames: readonly Buffer[], bytes: number, onTaken: () => void): void {
    if (bytes <= MAX_COPIED_BYTES) {
      writeOwn(Buffer.concat(frames, bytes), onTaken);
      return;
    }
    raw.cork();
    for (const [index, frame] of frames.entries()) write(frame, index === frames.length - 1 ? onTaken : undefined);
    raw.uncork();
  }

  function isOpen(): boolean {
    return !raw.writableEnded && !raw.destroyed;
  }

  return {
    write: (chunk) => writeOwn(chunk),
    writeLive,
    async drained(maxWaitMs) {
      if (!raw.writableNeedDrain) return true;
      return happensWithin(maxWaitMs, firstOf(raw, ["drain", "close", "error"]));
    },
    end(lastChunk) {
      if (!isOpen()) return;
      if (lastChunk !== undefined) raw.write(lastChunk);
      raw.end();
    },
    async finished(graceMs) {
      if (raw.writableFinished || raw.destroyed) return;
      if (!(await happensWithin(graceMs, firstOf(raw, ["finish", "close", "error"])))) raw.destroy();
    },
  };
}

async function happensWithin(limitMs: number, event: Promise<void>): Promise<boolean> {
  const limit = Promise.withResolvers<false>();
  const timer = setTimeout(() => limit.resolve(false), limitMs);
  const happened = await Promise.race([event.then(() => true), limit.promise]);
  clearTimeout(timer);
  return happened;
}

function firstOf(raw: ServerResponse, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const event of events) raw.off(event, settle);
      resolve();
    };
    for (const event of events) raw.on(event, settle);
  });
}
