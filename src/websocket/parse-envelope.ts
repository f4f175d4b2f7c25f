import { randomUUID } from "node:crypto";
import { isJsonObject } from "#contract";
import { BridgeError } from "../errors.ts";
import { checkJson } from "../requests/check-json.ts";
import { findRequestId } from "./find-request-id.ts";

/** Why a frame is not a valid request. */
export type EnvelopeFault = "malformed-envelope" | "empty-envelope" | "missing-op" | "invalid-request";

/** The parsed envelope of a frame: a request, or the fault. */
export type Envelope = {
  requestId: string;
  attributes: Record<string, string>;
} & ({ op: string; payload: Record<string, unknown>; fault?: never } | { fault: EnvelopeFault | BridgeError; op?: never });

/** One frame from a client. */
export interface Frame {
  bytes: Buffer;
  isBinary: boolean;
}

/** Limits of the attributes, because the log contains them. */
const MAX_ATTRIBUTES = 32;
const MAX_ATTRIBUTE_LENGTH = 256;

/** Parses a frame; never rejects. `reserve` reserves memory for its values. */
export async function parseEnvelope({ bytes, isBinary }: Frame, reserve: (bytes: number) => Promise<void>): Promise<Envelope> {
  if (isBinary) return toFault("malformed-envelope");
  const envelope = await parseValue(bytes, reserve);
  if (envelope instanceof BridgeError) {
    const fault = toFault(envelope);
    // Frames with too many values are not scanned to their end.
    return envelope.code === "too_large" ? fault : { ...fault, requestId: findRequestId(bytes) ?? fault.requestId };
  }
  if (!isJsonObject(envelope)) return toFault(bytes.toString().trim() === "" ? "empty-envelope" : "malformed-envelope");
  const { requestId = "", op, payload, meta } = envelope;
  if (typeof requestId !== "string") return toFault("malformed-envelope");
  const head = { requestId: requestId === "" ? randomUUID() : requestId, attributes: isJsonObject(meta) ? toAttributes(meta) : {} };
  if (op === undefined || op === null || op === "") return { ...head, fault: "missing-op" };
  if (typeof op !== "string" || !isJsonObject(payload ?? {})) return { ...head, fault: "invalid-request" };
  return { ...head, op, payload: (payload ?? {}) as Record<string, unknown> };
}

/** Truncates a text for the log. */
export const truncate = (text: string): string => text.slice(0, MAX_ATTRIBUTE_LENGTH);

const toFault = (fault: EnvelopeFault | BridgeError): Envelope => ({ requestId: randomUUID(), attributes: {}, fault });

/** Returns the parsed value, the error of a frame that is not processed, or undefined for malformed JSON. */
async function parseValue(bytes: Buffer, reserve: (bytes: number) => Promise<void>): Promise<unknown> {
  try {
    const checked = checkJson(bytes);
    await reserve(checked.memoryBytes);
    return checked.parse();
  } catch (error) {
    if (!(error instanceof BridgeError)) return undefined;
    if (error.code === "too_large" || error.code === "overloaded") return error;
    if (error.errors.length === 0) return undefined;
    // Paths of errors begin in the payload.
    const errors = error.errors.map(({ path, message }) => ({ path: path.replace(/^payload\./, ""), message }));
    return new BridgeError(error.code, error.message, { errors });
  }
}

function toAttributes(meta: Record<string, unknown>): Record<string, string> {
  const attributes: [string, string][] = [];
  // A list of all names would take as long as parsing them.
  for (const name in meta) {
    const value = meta[name];
    attributes.push([truncate(name), truncate(typeof value === "string" ? value : toText(value))]);
    if (attributes.length === MAX_ATTRIBUTES) break;
  }
  return Object.fromEntries(attributes);
}

function toText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.stringify throws if the value is nested too deeply.
    return "…";
  }
}
