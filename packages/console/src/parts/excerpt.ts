import { formatValue, showHidden } from "../format.ts";

/** Characters of an input that is shown whole, and of an excerpt. Both fit above the buttons in a small window. */
const MAX_CHARACTERS = 240;
/** Names of fields and lines of an input that is shown whole. */
const MAX_ROWS = 7;
/** Fields of an excerpt: the first ones and the last one. */
const MAX_FIELDS = 3;

/** Returns the first and the last line of each field of a tool's input; null if the input is short. */
export function excerptOf(input: unknown): string | null {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const fields = (isObject ? Object.entries(input) : [["", input]]).map(
    ([name, value]) => [showHidden(String(name)), showHidden(formatValue(value))] as const,
  );
  const characters = fields.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (characters <= MAX_CHARACTERS && fields.reduce((sum, [, text]) => sum + 1 + text.split("\n").length, 0) <= MAX_ROWS) return null;
  const shown = fields.length > MAX_FIELDS ? [...fields.slice(0, MAX_FIELDS - 1), ...fields.slice(-1)] : fields;
  const lineLength = Math.floor(MAX_CHARACTERS / (2 * shown.length));
  const parts = shown.map(([name, text]) => excerptField(name, text, lineLength));
  if (fields.length > MAX_FIELDS) parts.splice(MAX_FIELDS - 1, 0, `… ${fields.length - MAX_FIELDS} more fields …`);
  return parts.join("\n");
}

function excerptField(name: string, text: string, lineLength: number): string {
  const label = name === "" ? "" : `${cutEnd(name, lineLength)}: `;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const [first = "", last = ""] = [lines[0], lines.at(-1)];
  if (lines.length > 1) {
    const between = lines.length > 2 ? [`… ${lines.length - 2} more lines …`] : [];
    return [`${label}${cutEnd(first, lineLength)}`, ...between, cutStart(last, lineLength)].join("\n");
  }
  if (first.length <= 2 * lineLength) return `${label}${first}`;
  return [`${label}${cutEnd(first, lineLength)}`, cutStart(first, lineLength)].join("\n");
}

const cutEnd = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text);
const cutStart = (text: string, length: number): string => (text.length > length ? `…${text.slice(-length)}` : text);
