import { randomUUID } from "node:crypto";
import { BridgeError } from "../errors.ts";
import { parseJson } from "../http/wire/parse-json.ts";

/** What is wrong with a frame that no op can be asked for with. */
export type EnvelopeFault = "malformed-envelope" | "empty-envelope" | "missing-op" | "invalid-request";

/** A frame, read: what it asks for, or what is wrong with it. */
export type Envelope = {
  requestId: string;
  attributes: Record<string, string>;
} & ({ op: string; payload: Record<string, unknown>; fault?: never } | { fault: EnvelopeFault | BridgeError; op?: never });

/** One frame as it came. */
export interface Frame {
  bytes: Buffer;
  isBinary: boolean;
}

/** Attributes go into the log: a client must not be able to fill it. */
const MAX_ATTRIBUTES = 32;
const MAX_ATTRIBUTE_LENGTH = 256;

/** Reads a frame; never throws, whatever it holds. */
export function parseEnvelope({ bytes, isBinary }: Frame): Envelope {
  if (isBinary) return refuse("malformed-envelope");
  const envelope = parse(bytes);
  if (envelope instanceof BridgeError) return refuse(envelope);
  if (!isObject(envelope)) return refuse(bytes.toString().trim() === "" ? "empty-envelope" : "malformed-envelope");
  const { requestId = "", op, payload, meta } = envelope;
  if (typeof requestId !== "string") return refuse("malformed-envelope");
  const head = { requestId: requestId === "" ? randomUUID() : requestId, attributes: isObject(meta) ? toAttributes(meta) : {} };
  if (op === undefined || op === null || op === "") return { ...head, fault: "missing-op" };
  if (typeof op !== "string" || !isObject(payload ?? {})) return { ...head, fault: "invalid-request" };
  return { ...head, op, payload: (payload ?? {}) as Record<string, unknown> };
}

/** A text that fits into a line of the log. */
export const cut = (text: string): string => text.slice(0, MAX_ATTRIBUTE_LENGTH);

const refuse = (fault: EnvelopeFault | BridgeError): Envelope => ({ requestId: randomUUID(), attributes: {}, fault });

/** The value, or the refusal of a frame that holds too many. */
function parse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    return error instanceof BridgeError && error.code === "too_large" ? error : undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function toAttributes(meta: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(meta).slice(0, MAX_ATTRIBUTES);
  return Object.fromEntries(entries.map(([name, value]) => [cut(name), cut(typeof value === "string" ? value : toText(value))]));
}

function toText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested deeper than it can be walked.
    return "…";
  }
}
