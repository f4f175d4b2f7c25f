/** Media ranges that include event streams, the most specific first. */
const MATCHING_RANGES = ["text/event-stream", "text/*", "*/*"];

/**
 * Returns whether an `Accept` header allows an event stream. A missing header allows everything; the most specific
 * matching range decides.
 */
export function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === "") return true;
  const ranges = new Map(accept.split(",").map(parseRange));
  const range = MATCHING_RANGES.find((name) => ranges.has(name));
  return range !== undefined && ranges.get(range) !== 0;
}

function parseRange(text: string): [name: string, quality: number] {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return [name, quality === undefined ? 1 : Number(quality.slice(2))];
}
