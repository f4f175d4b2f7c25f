import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BridgeError } from "../../errors.ts";

/** What a writer says about what it has read: nothing, that there is something at all, or its tags, of which one must fit. */
export type Precondition = null | "any" | readonly string[];

/** A runtime chooses its tags freely; what may not stand in the header is percent-encoded. */
const notPlain = /[^\x21\x23\x24\x26-\x7e]+/g;
const toHeader = (etag: string): string => `"${etag.toWellFormed().replaceAll(notPlain, (text) => encodeURIComponent(text))}"`;

/** Answers a read with its tag, which is made of the body where the thing has none; 304 without a body when the reader has it already. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, body: object, etag?: string): FastifyReply {
  const header = toHeader(etag ?? hash("sha256", JSON.stringify(body), "base64url"));
  reply.header("etag", header);
  const known = request.headers["if-none-match"];
  if (known === undefined) return reply.send(body);
  const isKnown = known.trim() === "*" || (readTags(known) ?? []).some(({ tag }) => `"${tag}"` === header);
  return isKnown ? reply.code(304).send() : reply.send(body);
}

/** Answers a write with the state after it. */
export function sendWritten(reply: FastifyReply, httpStatus: 200 | 201, body: object, etag: string): FastifyReply {
  return reply.code(httpStatus).header("etag", toHeader(etag)).send(body);
}

/** The condition of a write, in the runtime's own tags; throws in words on what is none. */
export function readPrecondition({ headers }: Pick<FastifyRequest, "headers">): Precondition {
  if (headers["if-none-match"] !== undefined) throw refuse("If-None-Match", "is for reads; a write takes If-Match");
  const text = headers["if-match"];
  if (text === undefined) return null;
  if (text.trim() === "*") return "any";
  const tags = readTags(text);
  if (tags === null || tags.length === 0) throw refuse("If-Match", 'must be *, or tags as ETag gives them, in quotes: "…", "…"');
  if (tags.some(({ isWeak }) => isWeak))
    throw refuse(
      "If-Match",
      "must not hold a weak tag: Bridge gives one only for a file that changed within the last second, so read it again",
    );
  return tags.map(({ tag }) => fromHeader(tag));
}

/** The condition of a write to a file, which may also be that nothing is there yet (`If-None-Match: *`). */
export function readFileCondition({ headers }: Pick<FastifyRequest, "headers">): { ifMatch: Precondition; mustBeNew: boolean } {
  const { "if-none-match": ifNoneMatch, ...others } = headers;
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*") throw refuse("If-None-Match", "must be * on a write");
  return { ifMatch: readPrecondition({ headers: others }), mustBeNew: ifNoneMatch !== undefined };
}

/** For writes that nothing can have been read of before. */
export function refusePrecondition(request: Pick<FastifyRequest, "headers">): void {
  if (readPrecondition(request) !== null) throw refuse("If-Match", "has no meaning here; leave it out");
}

/** Nothing but commas and tags, each of which is in quotes; null for anything else. */
function readTags(text: string): { tag: string; isWeak: boolean }[] | null {
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
    // None of ours: it fits nothing.
    return tag;
  }
}

const refuse = (header: string, message: string): BridgeError =>
  new BridgeError("invalid_request", `The header ${header} ${message}.`, { errors: [{ path: header, message }] });
