import { isJsonObject, type NormalizedUsage } from "#contract";

/**
 * What a request does. `generation`: the model generates, and the response reports the usage. `free`: it costs nothing. `deferred`: it
 * starts work whose usage no response reports, such as a batch. `other`: it may cost something.
 */
export type RequestKind = "generation" | "free" | "deferred" | "other";

/** Counts of tokens as the vendor names them; names of nested counts are joined with a dot. */
export type Counts = Record<string, number>;

/** What one event or response reports about its call. */
export interface Reading {
  model?: string;
  counts?: Counts;
  /** The call is complete; only counts can follow. */
  isComplete?: boolean;
  /** Nothing that counts can follow. */
  isLast?: boolean;
}

/** A protocol of a vendor, as far as the proxy must understand it. */
export interface Protocol {
  /** Classifies a request by its method and its path, which has no query. */
  classify(method: string, path: string): RequestKind;
  /** Matches every event that `read` reads something from. */
  relevant: RegExp;
  /** Reads the data of one event, or a whole response. Never throws. */
  read(data: unknown): Reading;
  toUsage(counts: Counts): NormalizedUsage;
  /** The names by which a request limits its output, and the output of its models without such a limit, in tokens. */
  outputLimit: { names: readonly string[]; largest: number };
  /** The status at which programs end their turn at once, instead of repeating the call. */
  refusalStatus: number;
  /** The body of an error in the vendor's own form. */
  errorBody(status: number, message: string): unknown;
}

/** Returns the counts of a usage object, without anything that is not a count. */
export function readCounts(usage: unknown): Counts | undefined {
  if (!isJsonObject(usage)) return undefined;
  const nested = Object.entries(usage).flatMap(([name, value]) =>
    isJsonObject(value) ? Object.entries(value).map(([inner, count]) => [`${name}.${inner}`, count] as const) : [[name, value] as const],
  );
  const counts = nested.filter((entry): entry is [string, number] => isCount(entry[1]));
  return counts.length === 0 ? undefined : Object.fromEntries(counts);
}

/** Returns the largest of both counts for each name. Vendors repeat counts that grow, so a sum would be too large. */
export function mergeCounts(one: Counts, other: Counts): Counts {
  const merged = { ...one };
  for (const [name, count] of Object.entries(other)) merged[name] = Math.max(merged[name] ?? 0, count);
  return merged;
}

/** Returns an object with one optional count: empty if the count is unknown. */
export const optional = <Name extends string>(name: Name, count: number | undefined): Partial<Record<Name, number>> =>
  count === undefined ? {} : ({ [name]: count } as Record<Name, number>);

/** Returns a text; undefined for anything else. */
export const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value.slice(0, 200) : undefined);

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;
