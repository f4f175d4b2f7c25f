import type { FastifyRequest } from "fastify";
import { isManagementError } from "#contract";
import { BridgeError } from "../../errors.ts";
import { type Precondition, readPrecondition } from "../wire/etag.ts";

/** One write as a manager carries it out; null and false mean that there is no such thing. */
export interface ConditionalWrite<Result> {
  /** What is written, for messages. */
  what: string;
  /** As it is now. */
  read(): Promise<{ etag: string } | null>;
  write(ifMatch?: string): Promise<Result | null | false>;
}

/**
 * Carries out a write under the condition that its request names: what has changed or gone meanwhile is not written over. Nothing is written any
 * more once the signal is aborted, however long reading took.
 */
export async function writeIfMatch<Result>(
  request: FastifyRequest,
  signal: AbortSignal,
  { what, read, write }: ConditionalWrite<Result>,
): Promise<Result> {
  const ifMatch = await chooseTag(readPrecondition(request), read, what);
  signal.throwIfAborted();
  try {
    const written = await write(ifMatch);
    if (written !== null && written !== false) return written;
  } catch (error) {
    if (ifMatch === undefined || !isManagementError(error) || error.code !== "not_found") throw error;
  }
  throw ifMatch === undefined ? new BridgeError("not_found", `There is no such ${what}.`) : isGone(what);
}

/** The same for a write that also makes what is not there. */
export async function putIfMatch<Result>(
  request: FastifyRequest,
  signal: AbortSignal,
  write: ConditionalWrite<Result>,
): Promise<{ isNew: boolean; result: Result }> {
  const isNew = readPrecondition(request) === null && (await write.read()) === null;
  return { isNew, result: await writeIfMatch(request, signal, write) };
}

/** A single tag the runtime compares itself, in one step with the write; of several it is handed the one that fits. */
async function chooseTag(
  precondition: Precondition,
  read: () => Promise<{ etag: string } | null>,
  what: string,
): Promise<string | undefined> {
  if (precondition === null) return undefined;
  const [only, ...others] = precondition === "any" ? [] : precondition;
  if (only !== undefined && others.length === 0) return only;
  const current = (await read())?.etag;
  if (current === undefined) throw isGone(what);
  if (precondition !== "any" && !precondition.includes(current))
    throw new BridgeError("stale_write", `The ${what} has changed since it was read; read it again.`);
  return current;
}

const isGone = (what: string): BridgeError => new BridgeError("stale_write", `There is no such ${what} any more.`);
