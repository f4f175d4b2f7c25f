import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { create as contentDisposition } from "content-disposition";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BridgeError } from "../../errors.ts";
import { fileTag } from "../../workspaces/file-tag.ts";
import type { OpenTaskFile } from "../../workspaces/task-files.ts";
import { type ByteRange, readByteRange } from "./byte-range.ts";

/** The most that one answer carries; a larger file is fetched in ranges. */
export const MAX_FILE_ANSWER_BYTES = 1024 ** 3;

const CHUNK_BYTES = 256 * 1024;

/** A file that changed less than this ago may change again within the same tick of its clock, and keep its tag. */
const SETTLED_AFTER_MS = 1000;

/** Answers with a file, or with the range of it that was asked for. Takes the file over: it is closed, whatever comes. */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: OpenTaskFile): Promise<FastifyReply> {
  const { handle, stats, name } = file;
  try {
    const size = Number(stats.size);
    const tag = entityTag(stats);
    const range = chooseRange(request, tag, size);
    if (range === "unsatisfiable") {
      reply.header("content-range", `bytes */${size}`);
      throw new BridgeError("range_not_satisfiable", `The file has ${size} bytes.`);
    }
    const { first, last } = range ?? { first: 0, last: size - 1 };
    const length = last - first + 1;
    if (length > MAX_FILE_ANSWER_BYTES)
      throw new BridgeError(
        "too_large",
        `One answer carries at most ${MAX_FILE_ANSWER_BYTES} bytes, and these are ${length}: ask for ranges.`,
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

function chooseRange({ headers, method }: FastifyRequest, tag: string, size: number): ReturnType<typeof readByteRange> {
  const ifRange = headers["if-range"];
  const isSame = ifRange === undefined || (ifRange === tag && !tag.startsWith("W/"));
  return method === "GET" && isSame ? readByteRange(headers.range, size) : null;
}

/** Weak while the file is so fresh that its clock cannot tell two states of it apart. */
function entityTag(stats: BigIntStats): string {
  const tag = `"${fileTag(stats)}"`;
  return Date.now() - Number(stats.ctimeMs) < SETTLED_AFTER_MS ? `W/${tag}` : tag;
}

/**
 * Exactly the bytes that were promised, or an error, which cuts the connection: a file that shrinks meanwhile, or that changes after its
 * task has ended, must not pass for the one that was asked for.
 */
async function* readRange({ handle, stats, isFinal }: OpenTaskFile, { first, last }: ByteRange): AsyncGenerator<Buffer> {
  for (let at = first; at <= last; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, last - at + 1));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw new Error("The file has become shorter while it was sent.");
    at += bytesRead;
    if (at > last && isFinal && (await changedAt(handle)) !== stats.ctimeNs) throw new Error("The file has changed while it was sent.");
    yield chunk.subarray(0, bytesRead);
  }
}

const changedAt = async (handle: FileHandle): Promise<bigint> => (await handle.stat({ bigint: true })).ctimeNs;
