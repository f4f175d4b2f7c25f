import { stringifyWellFormed } from "#contract";
import { findCut, findLongLiterals } from "./json-literal.ts";

/** Maximum size of event data as JSON. The task's result contains the full text. */
export const MAX_EVENT_DATA_BYTES = 256 * 1024;
/** Strings are not cut below this size. If that does not suffice, the structure itself is too large. */
const MIN_STRING_BYTES = 1024;
/** The quotes of a name, its colon, and a value of one digit. */
const MIN_VALUE_BYTES = 4;
const UNREADABLE = "[not serializable]";

/**
 * Encodes event data as JSON. Above 256 KiB, the longest strings are truncated and `truncated: true` is added. If that does not suffice,
 * for example because of a huge array, each top-level field that is not small becomes a string with the start of its JSON text. Data with
 * too many fields becomes `{json: "<the start of its JSON text>", truncated: true}`.
 */
export function encodeEventData(original: Record<string, unknown>): string {
  const { data, minBytes } = shortenFields(original);
  const json = toJson(data);
  if (json !== undefined && fits(json)) return json;
  const inPart = minBytes > MAX_EVENT_DATA_BYTES ? undefined : encodeInPart(data, json);
  return inPart ?? (cutStrings(toJson({ json: shorten(json ?? UNREADABLE), truncated: true })) as string);
}

/** Keeps all fields; undefined if that takes too many bytes. */
function encodeInPart(data: Record<string, unknown>, json: string | undefined): string | undefined {
  // To add the mark to the text is cheaper than to encode the data again.
  const isMarkable = json?.endsWith("}") === true && !Object.hasOwn(data, "truncated");
  const marked = isMarkable ? `${json.slice(0, -1)},"truncated":true}` : toJson({ ...data, truncated: true });
  return cutStrings(marked) ?? cutStrings(toJson({ ...withTextFields(data), truncated: true }));
}

/**
 * Shortens huge fields before they are measured exactly. They remain the longest strings, and each is still longer than the limit.
 * `minBytes` is what the names and the shortest values take, which no cut saves.
 */
function shortenFields(original: Record<string, unknown>): { data: Record<string, unknown>; minBytes: number } {
  let data = original;
  let minBytes = 0;
  for (const name in original) {
    minBytes += name.length + MIN_VALUE_BYTES;
    const value = original[name];
    if (typeof value !== "string" || value.length <= 2 * MAX_EVENT_DATA_BYTES) continue;
    if (data === original) data = { ...original };
    data[name] = shorten(value);
  }
  return { data, minBytes };
}

const shorten = (text: string): string => text.slice(0, 2 * MAX_EVENT_DATA_BYTES);

/** Cuts the longest strings to one size so that the text fits; undefined if cutting strings does not suffice. */
function cutStrings(json: string | undefined): string | undefined {
  if (json === undefined || fits(json)) return json;
  const literals = findLongLiterals(json, MIN_STRING_BYTES);
  const level = findCutLevel(
    Buffer.byteLength(json) - MAX_EVENT_DATA_BYTES,
    literals.map((literal) => literal.bytes),
  );
  if (level < MIN_STRING_BYTES) return undefined;
  let result = "";
  let copied = 0;
  for (const { start, end, bytes } of literals) {
    if (bytes <= level) continue;
    // The two quotes count as well.
    result += json.slice(copied, findCut(json, start + 1, level - 2));
    copied = end - 1;
  }
  return result + json.slice(copied);
}

/** The size to which all larger strings must be cut so that they save `excess` bytes in total. */
function findCutLevel(excess: number, sizes: readonly number[]): number {
  const descending = sizes.toSorted((a, b) => b - a);
  let sum = 0;
  for (const [index, size] of descending.entries()) {
    sum += size;
    const level = Math.floor((sum - excess) / (index + 1));
    if (level >= (descending[index + 1] ?? 0)) return level;
  }
  return 0;
}

function withTextFields(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, asText(value)]));
}

function asText(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  const json = toJson(value);
  return json !== undefined && json.length <= MIN_STRING_BYTES ? value : shorten(json ?? UNREADABLE);
}

/** The JSON text; undefined if the value has none, because of a cycle, a bigint or its depth. */
function toJson(value: unknown): string | undefined {
  try {
    return stringifyWellFormed(value);
  } catch {
    return undefined;
  }
}

const fits = (json: string): boolean => json.length * 3 <= MAX_EVENT_DATA_BYTES || Buffer.byteLength(json) <= MAX_EVENT_DATA_BYTES;
