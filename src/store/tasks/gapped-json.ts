/** A long text that is stored once: as the contents of a task's own `assistant.text` events, first to last, or in separate chunks. */
export type LongText = { events: readonly [first: number, last: number] } | { kept: number; chunks: number };

/** A place in a JSON text, in UTF-16 units, where a long text belongs. */
export interface Gap {
  at: number;
  text: LongText;
}

/** A JSON text that is stored without its long texts. */
export interface GappedJson {
  json: string;
  gaps: readonly Gap[];
}

/** Replaces markers in a JSON text by gaps. A marker is a string that occurs nowhere else and needs no escape. */
export function cutGaps(json: string, texts: ReadonlyMap<string, LongText>): GappedJson {
  const found = [...texts].flatMap(([marker, text]) => positionsOf(json, marker).map((at) => ({ at, marker, text })));
  const gaps: Gap[] = [];
  let result = "";
  let copied = 0;
  for (const { at, marker, text } of found.sort((a, b) => a.at - b.at)) {
    result += json.slice(copied, at);
    gaps.push({ at: result.length, text });
    copied = at + marker.length;
  }
  return { json: result + json.slice(copied), gaps };
}

/** The inverse of `cutGaps`, for parsing. Inserts the marker that `markerFor` returns into each gap. */
export function fillGaps({ json, gaps }: GappedJson, markerFor: (text: LongText) => string): string {
  let result = "";
  let copied = 0;
  for (const { at, text } of gaps) {
    result += json.slice(copied, at) + markerFor(text);
    copied = at;
  }
  return result + json.slice(copied);
}

/** Encodes gaps for a column: NULL if there are none, as in nearly all rows. */
export const encodeGaps = (gaps: readonly Gap[]): string | null => (gaps.length === 0 ? null : JSON.stringify(gaps));

/** Decodes gaps from a column. */
export const decodeGaps = (column: unknown): readonly Gap[] => (typeof column === "string" ? (JSON.parse(column) as Gap[]) : []);

function positionsOf(json: string, marker: string): number[] {
  const positions: number[] = [];
  for (let at = json.indexOf(marker); at !== -1; at = json.indexOf(marker, at + marker.length)) positions.push(at);
  return positions;
}
