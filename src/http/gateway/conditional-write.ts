import type { FastifyRequest } from "fastify";
import { isManagementError } from "#contract";
import { BridgeError } from "../../errors.ts";
import { type Precondition, parsePrecondition } from "../wire/etag.ts";

/** One write of a manager. `read` returns null, and `write` null or false, if the resource does not exist. */
export interface ConditionalWrite<Result> {
  /** Name of the resource in messages, such as "file". */
  noun: string;
  /** Reads the current version. */
  read(): Promise<{ etag: string } | null>;
  write(ifMatch?: string): Promise<Result | null | false>;
}

/**
 * Writes if the precondition of the request holds, and otherwise throws BridgeError `stale_write`. Without a
 * precondition, throws `not_found` if the resource does not exist. Once the signal is aborted, nothing is written, even
 * if the abort happens during the read.
 */
export async function writeIfMatch<Result>(
  request: FastifyRequest,
  signal: AbortSignal,
  { noun, read, write }: ConditionalWrite<Result>,
): Promise<Result> {
  const ifMatch = await chooseTag(parsePrecondition(request), read, noun);
  signal.throwIfAborted();
  try {
    const written = await write(ifMatch);
    if (written !== null && written !== false) return written;
  } catch (error) {
    if (ifMatch === undefined || !isManagementError(error) || error.code !== "not_found") throw error;
  }
  throw ifMatch === undefined ? new BridgeError("not_found", `There is no such ${noun}.`) : createDeletedError(noun);
}

/** Like `writeIfMatch`, for a write that creates a missing resource. */
export async function putIfMatch<Result>(
  request: FastifyRequest,
  signal: AbortSignal,
  write: ConditionalWrite<Result>,
): Promise<{ isNew: boolean; result: Result }> {
  const isNew = parsePrecondition(request) === null && (await write.read()) === null;
  return { isNew, result: await writeIfMatch(request, signal, write) };
}

/** Returns the tag that the runtime compares atomically with the write. If the request names several tags, it is the current one. */
async function chooseTag(
  precondition: Precondition,
  read: () => Promise<{ etag: string } | null>,
  noun: string,
): Promise<string | undefined> {
  if (precondition === null) return undefined;
  const [only, ...others] = precondition === "any" ? [] : precondition;
  if (only !== undefined && others.length === 0) return only;
  const current = (await read())?.etag;
  if (current === undefined) throw createDeletedError(noun);
  if (precondition !== "any" && !precondition.includes(current))
    throw new BridgeError("stale_write", `The ${noun} has changed since it was read. Read it again.`);
  return current;
}

const createDeletedError = (noun: string): BridgeError => new BridgeError("stale_write", `The ${noun} no longer exists.`);
