import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { create as contentDisposition } from "content-disposition";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BridgeError } from "../../errors.ts";
import { fileTag } from "../../workspaces/file-tag.ts";
import type { OpenTaskFile } from "../../workspaces/tenant-task-files.ts";
import { type ByteRange, parseByteRange } from "./byte-range.ts";

/** Maximum bytes of one response; clients read larger files in ranges. */
export const MAX_FILE_RESPONSE_BYTES = 1024 ** 3;

const CHUNK_BYTES = 256 * 1024;

/** A file that changed more recently could change again without a new timestamp, so its tag is weak. */
const SETTLED_AFTER_MS = 1000;

/** Responds with a file or the requested range of it, and closes the file in all cases. */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: OpenTaskFile): Promise<FastifyReply> {
  const { handle, stats, name } = file;
  try {
    const size = Number(stats.size);
    const tag = createEntityTag(stats);
    const range = chooseRange(request, tag, size);
    if (range === "unsatisfiable") {
      reply.header("content-range", `bytes */${size}`);
      throw new BridgeError("range_not_satisfiable", `The range starts after the end of the file, which has ${size} bytes.`);
    }
    const { first, last } = range ?? { first: 0, last: size - 1 };
    const length = last - first + 1;
    if (length > MAX_FILE_RESPONSE_BYTES)
      throw new BridgeError(
        "too_large",
        `The response would have ${length} bytes; the maximum is ${MAX_FILE_RESPONSE_BYTES}. Request smaller ranges.`,
      );
    reply.code(range === null ? 200 : 206).headers({
      "content-type": "application/octet-stream",
      "content-disposition": contentDisposition(name),
      "x-content-type-options": "nosniff",
      "content-length": String(length),
      "accept-ranges": "bytes",
      etag: tag,
      ...(range !== null && { "content-range": `bytes ${first}-${last}/${size}` }),
    });
    if (request.method === "HEAD" || length === 0) {
      await handle.close();
      return reply.send();
    }
    const content = Readable.from(readRange(file, { first, last }), { objectMode: false, highWaterMark: CHUNK_BYTES });
    content.once("close", () => {
      handle.close().catch((error: unknown) => request.log.warn({ err: error }, "failed to close a sent file"));
    });
    return reply.send(content);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function chooseRange({ headers, method }: FastifyRequest, tag: string, size: number): ReturnType<typeof parseByteRange> {
  const ifRange = headers["if-range"];
  const isSame = ifRange === undefined || (ifRange === tag && !tag.startsWith("W/"));
  return method === "GET" && isSame ? parseByteRange(headers.range, size) : null;
}

/** Returns the ETag: weak if the file changed so recently that a later change could have the same timestamp. */
function createEntityTag(stats: BigIntStats): string {
  const tag = `"${fileTag(stats)}"`;
  return Date.now() - Number(stats.ctimeMs) < SETTLED_AFTER_MS ? `W/${tag}` : tag;
}

/**
 * Reads exactly the bytes that the headers announce. Throws, which closes the connection, if the file becomes shorter
 * or, after the end of its task, changes during the read.
 */
async function* readRange({ handle, stats, isFinal }: OpenTaskFile, { first, last }: ByteRange): AsyncGenerator<Buffer> {
  for (let position = first; position <= last; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, last - position + 1));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) throw new Error("The file became shorter while it was sent.");
    position += bytesRead;
    if (position > last && isFinal && (await readChangeTime(handle)) !== stats.ctimeNs)
      throw new Error("The file changed while it was sent.");
    yield chunk.subarray(0, bytesRead);
  }
}

const readChangeTime = async (handle: FileHandle): Promise<bigint> => (await handle.stat({ bigint: true })).ctimeNs;
