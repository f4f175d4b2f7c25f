import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BridgeError } from "../../errors.ts";

/** The precondition of a write: none, that the resource exists, or the ETags of which one must match. */
export type Precondition = null | "any" | readonly string[];

/** Runtimes choose their tags freely, so characters that the header does not allow are percent-encoded. */
const invalidCharacters = /[^\x21\x23\x24\x26-\x7e]+/g;
const toHeader = (etag: string): string => `"${etag.toWellFormed().replaceAll(invalidCharacters, (text) => encodeURIComponent(text))}"`;

/** Responds to a read with an ETag, or with 304 if the client has this version. `etag` defaults to a hash of the body. */
export function sendWithEtag(request: FastifyRequest, reply: FastifyReply, body: object, etag?: string): FastifyReply {
  const header = toHeader(etag ?? hash("sha256", JSON.stringify(body), "base64url"));
  reply.header("etag", header);
  return isKnownVersion(request, header) ? reply.code(304).send() : reply.send(body);
}

/** Returns whether the client has the version with this value of the header `ETag`, weak or not. */
export function isKnownVersion({ headers }: Pick<FastifyRequest, "headers">, etag: string): boolean {
  const known = headers["if-none-match"];
  if (known === undefined) return false;
  return known.trim() === "*" || (parseTags(known) ?? []).some(({ tag }) => `"${tag}"` === etag.replace(/^W\//, ""));
}

/** Responds to a write with the new state and its ETag. */
export function sendWriteResult(reply: FastifyReply, httpStatus: 200 | 201, body: object, etag: string): FastifyReply {
  return reply.code(httpStatus).header("etag", toHeader(etag)).send(body);
}

/** Parses the precondition of a write into the runtime's own tags. Throws BridgeError `invalid_request`. */
export function parsePrecondition({ headers }: Pick<FastifyRequest, "headers">): Precondition {
  if (headers["if-none-match"] !== undefined)
    throw createInvalidHeaderError("If-None-Match", "applies to reads only; use If-Match for a write");
  const text = headers["if-match"];
  if (text === undefined) return null;
  if (text.trim() === "*") return "any";
  const tags = parseTags(text);
  if (tags === null || tags.length === 0)
    throw createInvalidHeaderError("If-Match", 'must be * or a list of quoted ETags, for example "a", "b"');
  if (tags.some(({ isWeak }) => isWeak))
    throw createInvalidHeaderError(
      "If-Match",
      "must not contain a weak ETag; Bridge sends one only for a file that changed within the last second, so read the file again",
    );
  return tags.map(({ tag }) => fromHeader(tag));
}

/** Parses the precondition of a write to a file. With `If-None-Match: *` the file must not exist. */
export function parseFilePrecondition({ headers }: Pick<FastifyRequest, "headers">): { ifMatch: Precondition; mustBeNew: boolean } {
  const { "if-none-match": ifNoneMatch, ...others } = headers;
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*") throw createInvalidHeaderError("If-None-Match", "must be * for a write");
  return { ifMatch: parsePrecondition({ headers: others }), mustBeNew: ifNoneMatch !== undefined };
}

/** Rejects a precondition of a request that creates a resource or runs an action. */
export function rejectPrecondition(request: Pick<FastifyRequest, "headers">): void {
  if (parsePrecondition(request) !== null) throw createInvalidHeaderError("If-Match", "is not supported by this route; omit it");
}

/** Parses a comma-separated list of quoted tags; null if it is malformed. */
function parseTags(text: string): { tag: string; isWeak: boolean }[] | null {
  const next = /[\t ,]*(W\/)?"([^"]*)"[\t ]*(?:,[\t ,]*|$)/y;
  const tags: { tag: string; isWeak: boolean }[] = [];
  while (next.lastIndex < text.length) {
    const found = next.exec(text);
    if (found === null) return null;
    tags.push({ tag: found[2] ?? "", isWeak: found[1] !== undefined });
  }
  return tags;
}

function fromHeader(tag: string): string {
  try {
    return decodeURIComponent(tag);
  } catch {
    // Not a tag that Bridge sent, so it matches no version.
    return tag;
  }
}

const createInvalidHeaderError = (header: string, message: string): BridgeError =>
  new BridgeError("invalid_request", `The header ${header} ${message}.`, { errors: [{ path: header, message }] });
