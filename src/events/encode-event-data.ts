import { findCut, findLongLiterals } from "./json-literal.ts";

/** Event data never takes more than this, in bytes of JSON; the task's result holds the full text. */
export const MAX_EVENT_DATA_BYTES = 256 * 1024;
/** No string is cut below this: when that would be needed, the structure and not a string is what is too big. */
const LEAST_STRING_BYTES = 1024;
const UNREADABLE = "[not serializable]";

/**
 * Makes an event's stored JSON. Over 256 KiB the longest strings are cut to their beginning and `truncated: true` is added.
 * Where that is not enough, because the data is a huge array, say, each top-level field that is not small becomes a string: the
 * beginning of its JSON text. Data of countless fields becomes `{json: "<the beginning of its JSON text>", truncated: true}`.
 */
export function encodeEventData(given: Record<string, unknown>): string {
  const data = withoutEndless(given);
  const json = toJson(data);
  if (json !== undefined && fits(json)) return json;
  const marked = { ...data, truncated: true };
  return (
    cutStrings(toJson(marked)) ??
    cutStrings(toJson(withTextFields(marked))) ??
    (cutStrings(toJson({ json: json ?? UNREADABLE, truncated: true })) as string)
  );
}

/** Shortens fields that cannot fit before the exact cut. They remain the longest strings, and each is still longer than the limit. */
function withoutEndless(data: Record<string, unknown>): Record<string, unknown> {
  let cut = data;
  for (const name in data) {
    const value = data[name];
    if (typeof value !== "string" || value.length <= 2 * MAX_EVENT_DATA_BYTES) continue;
    if (cut === data) cut = { ...data };
    cut[name] = value.slice(0, 2 * MAX_EVENT_DATA_BYTES);
  }
  return cut;
}

/** Cuts the longest strings, all to one size, until the text fits; undefined when strings are not what makes it long. */
function cutStrings(json: string | undefined): string | undefined {
  if (json === undefined || fits(json)) return json;
  const literals = findLongLiterals(json, LEAST_STRING_BYTES);
  const level = levelThatSaves(
    Buffer.byteLength(json) - MAX_EVENT_DATA_BYTES,
    literals.map((literal) => literal.bytes),
  );
  if (level < LEAST_STRING_BYTES) return undefined;
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

/** The size to which all larger ones must shrink so that together they save `excess`. */
function levelThatSaves(excess: number, sizes: readonly number[]): number {
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
  return json !== undefined && json.length <= LEAST_STRING_BYTES ? value : (json ?? UNREADABLE);
}

/** The JSON text; undefined when there is none: a cycle, a bigint, too deep. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const fits = (json: string): boolean => json.length * 3 <= MAX_EVENT_DATA_BYTES || Buffer.byteLength(json) <= MAX_EVENT_DATA_BYTES;
