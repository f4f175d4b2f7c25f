import { AsyncResource } from "node:async_hooks";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { createLineSplitter, type LineEncoding, type LineListener, type LongLineListener } from "./lines.ts";
import type { OutputFile } from "./output-file.ts";

/**
 * After a chunk of this size or more, reading pauses until the next turn of the event loop. Libuv would otherwise read 32 such chunks in a
 * row.
 */
const FULL_CHUNK_BYTES = 16 * 1024;
/**
 * Maximum number of event-loop turns that read the rest of the pipes after the exit. A pipe of 1 MiB, the maximum for ordinary users, needs
 * fewer.
 */
const LAST_TURNS = 32;

/** The output of a process. */
interface Output {
  /** Null if stdout is a file. */
  stdout: Readable | null;
  stderr: Readable;
}

interface CollectOptions {
  encoding?: LineEncoding | undefined;
  onLine: LineListener;
  /** Called for a line over the limit. Default: the process is stopped. */
  onLongLine?: LongLineListener | undefined;
  /** Called once, before the first line of stdout with bytes that are not UTF-8. */
  onInvalidText?: (() => void) | undefined;
  /** Called for each line of stderr of at most 64 KiB. */
  onErrorLine?: LineListener | undefined;
  /** Called after the lines of each chunk. */
  onChunkEnd?: (() => void) | undefined;
  /** `stderrBytes`: how much of the end of stderr is kept. */
  limits: { lineBytes: number; stdoutBytes: number; stderrBytes: number };
  /** Stops the process when it exceeds a limit, or a listener throws. */
  stop(): void;
}

/** A short program can end before its output is read. */
const waitForClose = async (pipe: Readable): Promise<void> => {
  if (!pipe.closed) await once(pipe, "close");
};

/** Reads the lines of stdout and the end of stderr, within limits. `close()` stops reading even if a process still holds a pipe open. */
export function collectOutput(
  { stdout, stderr }: Output,
  file: OutputFile | null,
  { encoding, onLine, onLongLine, onInvalidText, onErrorLine, onChunkEnd, limits, stop }: CollectOptions,
) {
  const splitter = createLineSplitter(limits.lineBytes, onLine, { encoding, onLongLine, onInvalidText });
  let limit: "lineBytes" | "stdoutBytes" | null = null;
  let listenerError: { error: unknown } | null = null;
  let stdoutBytes = 0;
  let stderrEnd: Buffer = Buffer.alloc(0);

  // An error of a listener stops the program and is rethrown by `close()`. Thrown inside a stream, it would crash Bridge.
  const fail = (error: unknown): void => {
    listenerError ??= { error };
    stop();
  };
  const guard = (act: () => void): void => {
    if (listenerError !== null) return;
    try {
      act();
    } catch (error) {
      fail(error);
    }
  };
  const readChunk = (chunk: Buffer): void => {
    if (limit !== null) return;
    const room = limits.stdoutBytes - stdoutBytes;
    stdoutBytes += chunk.length;
    guard(() => {
      if (!splitter.push(chunk.subarray(0, room))) limit = "lineBytes";
      else if (chunk.length > room) limit = "stdoutBytes";
      onChunkEnd?.();
    });
    if (limit !== null) stop();
  };
  const closing = new AbortController();
  const readOutputFile = async (from: OutputFile): Promise<void> => {
    for await (const chunk of from.readChunks(closing.signal)) {
      readChunk(chunk);
      // A file, unlike a pipe, does not block its writer, so further output is dropped.
      if (limit !== null || listenerError !== null) await from.empty();
    }
  };
  const fileRead = file === null ? null : readOutputFile(file).catch(fail);
  const readPipe = (chunk: Buffer): void => {
    readChunk(chunk);
    if (chunk.length < FULL_CHUNK_BYTES) return;
    stdout?.pause();
    setImmediate(() => stdout?.resume());
  };
  // Uncaught errors are assigned to tasks by their asynchronous context, and the sockets are accepted outside of it.
  stdout?.on("data", AsyncResource.bind(readPipe));
  const errorSplitter = onErrorLine === undefined ? null : createLineSplitter(limits.stderrBytes, onErrorLine, { onLongLine: () => true });
  const readErrors = (chunk: Buffer): void => {
    guard(() => errorSplitter?.push(chunk));
    stderrEnd = Buffer.concat([stderrEnd, chunk]).subarray(-limits.stderrBytes);
  };
  stderr.on("data", AsyncResource.bind(readErrors));

  const pipes = [stdout, stderr].filter((stream) => stream !== null);
  return {
    guard,
    pipesEnded: Promise.all(pipes.map(waitForClose)),
    async close() {
      // In each turn of the event loop, timers run before reads, so further turns are needed to read the rest of the pipes.
      for (let turn = 0, bytesBefore = -1; turn < LAST_TURNS && bytesBefore !== stdoutBytes; turn += 1) {
        bytesBefore = stdoutBytes;
        await new Promise(setImmediate);
        // Reading is paused in the turn after a full chunk.
        if (stdout?.isPaused() === true) await new Promise(setImmediate);
      }
      for (const pipe of pipes) pipe.destroy();
      closing.abort();
      await fileRead;
      guard(() => {
        splitter.end();
        onChunkEnd?.();
      });
      if (listenerError !== null) throw listenerError.error;
      return { limit, stderr: stderrEnd.toString("utf8") };
    },
  };
}
