import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isKnownVersion } from "./etag.ts";

/** A document that never changes, encoded once for all requests. */
export interface EncodedDocument {
  /** Value of the header `Content-Type`. */
  type: string;
  bytes: Buffer;
  /** The bytes, compressed with gzip. */
  compressed: Buffer;
  /** Value of the header `ETag`, weak because it is the same for both encodings. */
  etag: string;
}

const documents = new WeakSet<object>();

/** Encodes a document. */
export async function encodeDocument(type: string, content: Buffer | string): Promise<EncodedDocument> {
  const bytes = Buffer.from(content);
  const compressed = await promisify(gzip)(bytes);
  documents.add(bytes).add(compressed);
  return { type, bytes, compressed, etag: `W/"${hash("sha256", bytes, "base64url")}"` };
}

/** Returns whether these bytes are a document, which all of its responses share. */
export const isDocument = (payload: unknown): boolean => typeof payload === "object" && payload !== null && documents.has(payload);

/** Sends a document, compressed if the client accepts it, or 304 if the client has it. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, bytes, compressed, etag }: EncodedDocument,
): FastifyReply {
  reply.header("etag", etag).header("vary", "accept-encoding");
  if (isKnownVersion(request, etag)) return reply.code(304).send();
  reply.type(type);
  return acceptsGzip(request) ? reply.header("content-encoding", "gzip").send(compressed) : reply.send(bytes);
}

const acceptsGzip = ({ headers }: FastifyRequest): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(headers["accept-encoding"] ?? "");
