import { CommandError } from "./command-error.ts";

/** Returns the named fields of an object, or of each object of a list. A name such as `result.output` names a nested field. */
export function pickFields(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => pickFields(one, fields));
  return Object.fromEntries(fields.map((field) => [field, readField(value, field)]));
}

function readField(value: unknown, field: string): unknown {
  let current = value;
  for (const name of field.split(".")) {
    // A field of a value that is null is unknown, not wrong.
    if (current === null || current === undefined) return null;
    if (typeof current !== "object" || !Object.hasOwn(current, name)) {
      const names = typeof current === "object" ? Object.keys(current) : [];
      throw new CommandError("usage", `--json: there is no field "${field}".`, {
        hint: names.length === 0 ? null : `Fields: ${names.join(", ")}.`,
      });
    }
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}
