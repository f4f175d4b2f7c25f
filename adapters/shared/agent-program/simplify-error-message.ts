import { isJsonObject } from "#contract";

/** Objects that are nested deeper stay JSON. */
const MAX_DEPTH = 4;

/** Fields that programs and vendors use for an error message, the most specific first. */
const MESSAGE_FIELDS = ["message", "details", "detail", "description", "reason"] as const;

/**
 * Replaces a JSON object in an error message by the message that the object contains: `Internal error {"details":"no
 * key"}` becomes `Internal error: no key`.
 */
export function simplifyErrorMessage(message: string): string {
  const start = message.indexOf("{");
  const end = message.lastIndexOf("}");
  const value = start < 0 ? undefined : parseObject(message.slice(start, end + 1));
  if (value === undefined) return message;
  const before = message.slice(0, start).trimEnd();
  const after = message.slice(end + 1);
  const { text, fields } = describe(value, 0);
  const notes = fields.length === 0 ? "" : `(${fields.join(", ")})`;
  if (text === "") return `${before === "" ? fields.join(", ") : `${before} ${notes}`.trimEnd()}${after}`;
  const separator = before === "" || /[[(]$/.test(before) ? "" : /[:.,;!?]$/.test(before) ? " " : ": ";
  return `${before}${separator}${notes === "" ? text : `${text} ${notes}`}${after}`;
}

interface Description {
  /** The message of the object; empty if it has none. */
  text: string;
  /** Its other fields, as `name: value`. */
  fields: string[];
}

function describe(object: Record<string, unknown>, depth: number): Description {
  const { error } = object;
  if (isJsonObject(error) && depth < MAX_DEPTH) return describe(error, depth + 1);
  const messageField = [...MESSAGE_FIELDS, "error"].find((name) => typeof object[name] === "string" && object[name] !== "");
  const fields = Object.entries(object).flatMap(([name, value]) =>
    name === messageField || value === null || value === "" ? [] : [`${name}: ${formatValue(value, depth)}`],
  );
  return { text: messageField === undefined ? "" : simplifyErrorMessage(object[messageField] as string), fields };
}

function formatValue(value: unknown, depth: number): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (!isJsonObject(value) || depth >= MAX_DEPTH) return JSON.stringify(value);
  const { text, fields } = describe(value, depth + 1);
  return [text, ...fields].filter((part) => part !== "").join(", ");
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
