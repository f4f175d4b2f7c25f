import { type PricedCall, parseExactJson, pricedCallSchema } from "#contract";
import type { TraceEvent } from "../store/traces/interface.ts";

/** Data of an event of which only the beginning and the end are read. */
type CutData = Pick<TraceEvent, "head" | "tail">;

/** Returns a string field among the first fields of the data, cut where the read part ends; null if the part does not contain it. */
export function readText({ head }: CutData, name: string): string | null {
  const start = findValue(head, name);
  if (start === null || head[start] !== '"') return null;
  const [literal = '"'] = /^"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*/i.exec(head.slice(start)) ?? [];
  return JSON.parse(`${literal}"`) as string;
}

/** Returns the JSON text of a field among the first fields of the data, up to the end of the read part; null if it is not there. */
export function readJson({ head }: CutData, name: string): string | null {
  const start = findValue(head, name);
  if (start === null) return null;
  const data = parseObject(head);
  return data === null ? head.slice(start) : (JSON.stringify(data[name]) ?? null);
}

/** Returns a short field among the last fields of the data; null if it is not there. */
export function readLast({ tail }: CutData, name: string): string | null {
  const key = `"${name}":`;
  const at = tail.lastIndexOf(key);
  if (at === -1) return null;
  const found = SHORT_VALUE.exec(tail.slice(at + key.length));
  return found?.[1] ?? found?.[2] ?? null;
}

const SHORT_VALUE = /^(?:"([a-z_-]*)"|(true|false|[0-9.]+))(?=[,}])/;

/** Returns the calls of the model that events contain. */
export function listCalls(events: readonly TraceEvent[]): PricedCall[] {
  const reports = events.filter(({ type }) => type === "usage.reported");
  return reports.flatMap(({ head }) => pricedCallSchema.array().safeParse(parseObject(head)?.["calls"]).data ?? []);
}

/** Returns a JSON object; null if the text is cut, or no object. */
export function parseObject(json: string): Record<string, unknown> | null {
  if (!json.endsWith("}")) return null;
  try {
    return parseExactJson(json) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** The position of the value of a field. A quote inside a string is escaped, so only names look like this. */
function findValue(head: string, name: string): number | null {
  const key = `"${name}":`;
  const at = head.startsWith(`{${key}`) ? 1 : head.indexOf(`,${key}`) + 1;
  return at === 0 ? null : at + key.length;
}
