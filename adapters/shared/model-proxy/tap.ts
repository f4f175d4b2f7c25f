import type { Transform } from "node:stream";
import { finished } from "node:stream/promises";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { Protocol } from "./protocol.ts";
import { type CallUsage, createUsageReader } from "./usage-reader.ts";

/** Maximum size of a decoded response whose usage is read. */
const MAX_DECODED_BYTES = 128 * 1024 ** 2;
/** Maximum number of bytes that wait for the decoder. */
const MAX_WAITING_BYTES = 8 * 1024 ** 2;

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  "x-gzip": () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ finishFlush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => createZstdDecompress({ finishFlush: constants.ZSTD_e_flush }),
};

export type Tap = ReturnType<typeof createTap>;

/**
 * Creates the reader of a copy of one response. It decodes the copy, and gives up on a response that is too large, is encoded in an unknown
 * way or is damaged. It never throws. `onLast` is called as soon as no later byte can change the usage.
 */
export function createTap(
  protocol: Protocol,
  { contentType, contentEncoding }: { contentType: string; contentEncoding: string },
  onLast: (usage: CallUsage) => void,
) {
  const encoding = contentEncoding.trim().toLowerCase();
  const reader = createUsageReader(protocol, contentType);
  let isReadable = true;
  let decodedBytes = 0;
  let lastWrite: Promise<void> = Promise.resolve();
  const decoder = encoding === "" || encoding === "identity" ? null : createDecoder(encoding, read, giveUp);
  if (decoder === undefined) isReadable = false;

  function read(chunk: Buffer): void {
    decodedBytes += chunk.length;
    if (decodedBytes > MAX_DECODED_BYTES) giveUp();
    if (!isReadable || reader.isDone) return;
    reader.add(chunk.toString("latin1"));
    if (reader.isDone) onLast(reader.read());
  }

  function giveUp(): void {
    isReadable = false;
    decoder?.destroy();
  }

  return {
    add(chunk: Buffer): void {
      if (!isReadable || reader.isDone) return;
      if (decoder === null || decoder === undefined) read(chunk);
      else if (decoder.writableLength > MAX_WAITING_BYTES) giveUp();
      else {
        const written = Promise.withResolvers<void>();
        decoder.write(chunk, () => written.resolve());
        lastWrite = written.promise;
      }
    },
    /** Resolves when everything that was added has been decoded. */
    flush: (): Promise<void> => lastWrite,
    /** Returns what the response has reported. `isWhole`: the response did not break off. */
    async end(isWhole: boolean): Promise<CallUsage> {
      if (decoder !== null && decoder !== undefined && !decoder.destroyed) {
        decoder.end();
        await finished(decoder, { writable: false }).catch(() => {});
      }
      const result = reader.end(isWhole);
      return isReadable ? result : { ...result, incomplete: true };
    },
  };
}

function createDecoder(encoding: string, onData: (chunk: Buffer) => void, onError: () => void): Transform | undefined {
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
  decoder?.on("data", onData);
  decoder?.on("error", onError);
  return decoder;
}
