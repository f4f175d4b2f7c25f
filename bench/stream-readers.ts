import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Event streams that are open during a slice, in addition to the one that counts events. */
export interface ReadersOption {
  count: number;
  /** Path of the stream; `*` is replaced by the number of the reader. Default: all events. */
  path?: string;
}

interface Reader {
  socket: Socket;
  bytes: number;
}

/** Streams that are opened at the same time. */
const OPENED_AT_ONCE = 50;
/** All readers receive into one buffer, because nothing reads the content. */
const buffer = Buffer.alloc(256 * 1024);

/** Creates streams that only count the bytes that arrive, because they share their core with the load. */
export function createStreamReaders(address: string, token: string) {
  let readers: Reader[] = [];
  const areEqual = (): boolean => readers.every(({ socket, bytes }) => !socket.destroyed && bytes === readers[0]?.bytes);

  return {
    /** Replaces the open streams. Resolves when each one has received the start of its response. */
    async replace({ count, path = "/api/events" }: ReadersOption): Promise<void> {
      await Promise.all(readers.map(({ socket }) => new Promise((resolve) => socket.once("close", resolve).destroy())));
      readers = [];
      while (readers.length < count) {
        const numbers = Array.from({ length: Math.min(OPENED_AT_ONCE, count - readers.length) }, (_, index) => readers.length + index);
        readers.push(...(await Promise.all(numbers.map((number) => openReader(address, token, path.replace("*", String(number)))))));
      }
      for (const reader of readers) reader.bytes = 0;
    },
    /** Waits until all streams have received the same number of bytes. Returns the faults. */
    async check(limitMs: number): Promise<string[]> {
      const deadline = performance.now() + limitMs;
      while (!areEqual() && performance.now() < deadline) await delay(10);
      return areEqual() ? [] : ["readers were disconnected, or have not received the same number of bytes"];
    },
  };
}

async function openReader(address: string, token: string, path: string): Promise<Reader> {
  const { hostname, port } = new URL(address);
  const opened = Promise.withResolvers<void>();
  let start: string | null = "";
  const receive = (bytes: number): boolean => {
    reader.bytes += bytes;
    if (start === null) return true;
    start += buffer.toString("latin1", 0, bytes);
    if (!start.startsWith("HTTP/1.1 200")) opened.reject(new Error(`The event stream was answered ${start}`));
    // The first chunk of the body: the comment, and the line with the id that Bridge adds.
    if (!/: connected\n(.*\n)?\n\r\n$/.test(start)) return true;
    start = null;
    opened.resolve();
    return true;
  };
  const reader: Reader = {
    bytes: 0,
    socket: connect({ host: hostname, port: Number(port), onread: { buffer, callback: receive } }),
  };
  reader.socket.on("error", opened.reject);
  reader.socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`);
  await opened.promise;
  return reader;
}
