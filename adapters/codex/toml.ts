/** Serializes a value as TOML on one line. */
export function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => `${toToml(key)} = ${toToml(item)}`);
    return `{ ${entries.join(", ")} }`;
  }
  // TOML strings equal JSON strings, except that TOML forbids U+007F and lone surrogates.
  if (typeof value === "string") return JSON.stringify(value.toWellFormed()).replaceAll("\u007f", "\\u007f");
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`TOML cannot represent ${value === null ? "null" : typeof value}.`);
}
