const fittingRanges = ["text/event-stream", "text/*", "*/*"];

/** Does an `Accept` header admit an event stream? No header admits all; of several ranges that fit, the most specific decides. */
export function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === "") return true;
  const ranges = new Map(accept.split(",").map(parseRange));
  const range = fittingRanges.find((name) => ranges.has(name));
  return range !== undefined && ranges.get(range) !== 0;
}

function parseRange(text: string): [name: string, quality: number] {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return [name, quality === undefined ? 1 : Number(quality.slice(2))];
}
