/** Headers of one connection, which are not forwarded. Those that begin with `proxy-` and those that `connection` names belong to them. */
const HOP_BY_HOP: readonly string[] = ["connection", "keep-alive", "te", "transfer-encoding", "upgrade"];

/** Names and values in turn, as `rawHeaders` of Node has them. */
export type RawHeaders = readonly string[];

/** Returns the pairs that are forwarded: without those of the connection, and without the names in `others`. */
export function selectForwarded(headers: RawHeaders, others: readonly string[] = []): [name: string, value: string][] {
  const pairs = toPairs(headers);
  const named = pairs.flatMap(([name, value]) => (name.toLowerCase() === "connection" ? value.toLowerCase().split(",") : []));
  const dropped = new Set([...HOP_BY_HOP, ...others, ...named.map((name) => name.trim())]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase()) && !name.toLowerCase().startsWith("proxy-"));
}

/** Converts the raw headers of undici, which are buffers, to those of Node. */
export const toRawHeaders = (headers: unknown): RawHeaders =>
  Array.isArray(headers) ? headers.map((part: Buffer | string) => (typeof part === "string" ? part : part.toString("latin1"))) : [];

/** Converts names and values in turn to pairs. */
export const toPairs = (headers: RawHeaders): [name: string, value: string][] =>
  headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? ""] as [string, string]] : []));
