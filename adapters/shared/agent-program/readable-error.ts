/** Deeper JSON, and longer lists, of an error stay as they are. */
const MAX_DEPTH = 4;

/** Fields in which programs and vendors put their words, the most telling first. */
const wordFields = ["message", "details", "detail", "description", "reason"] as const;

/** Rewrites the JSON object in the words of an error, such as `Internal error {"details":"no key"}`, as `Internal error: no key`. Other words stay as they are. */
export function readableError(words: string): string {
  const start = words.indexOf("{");
  const end = words.lastIndexOf("}");
  const value = start < 0 ? undefined : parseObject(words.slice(start, end + 1));
  if (value === undefined) return words;
  const before = words.slice(0, start).trimEnd();
  const after = words.slice(end + 1);
  const { text, fields } = describe(value, 0);
  const notes = fields.length === 0 ? "" : `(${fields.join(", ")})`;
  if (text === "") return `${before === "" ? fields.join(", ") : `${before} ${notes}`.trimEnd()}${after}`;
  const separator = before === "" || /[[(]$/.test(before) ? "" : /[:.,;!?]$/.test(before) ? " " : ": ";
  return `${before}${separator}${notes === "" ? text : `${text} ${notes}`}${after}`;
}

interface Description {
  /** The words of the object; empty when it has none. */
  text: string;
  /** Its other fields, as `name: value`. */
  fields: string[];
}

function describe(object: Record<string, unknown>, depth: number): Description {
  const { error } = object;
  if (isObject(error) && depth < MAX_DEPTH) return describe(error, depth + 1);
  const words = [...wordFields, "error"].find((name) => typeof object[name] === "string" && object[name] !== "");
  const fields = Object.entries(object).flatMap(([name, value]) =>
    name === words || value === null || value === "" ? [] : [`${name}: ${plain(value, depth)}`],
  );
  return { text: words === undefined ? "" : readableError(object[words] as string), fields };
}

function plain(value: unknown, depth: number): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (!isObject(value) || depth >= MAX_DEPTH) return JSON.stringify(value);
  const { text, fields } = describe(value, depth + 1);
  return [text, ...fields].filter((part) => part !== "").join(", ");
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
