import vm from "node:vm";
import { Ajv, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** A pattern of a caller's schema may backtrack for ever; the check is cut off after this. */
const CHECK_LIMIT_MS = 1000;

/** What is wrong with a JSON Schema (draft 7, or 2020-12 when `$schema` says so), in words; null when it can be used. */
export function checkSchema(schema: Record<string, unknown>): string | null {
  try {
    createValidator(schema);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Why the value does not fit the schema, in words; null when it fits. */
export function checkAgainstSchema(schema: Record<string, unknown>, value: unknown): string | null {
  try {
    const validate = createValidator(schema);
    const fits = vm.runInNewContext("validate(value)", { validate, value }, { timeout: CHECK_LIMIT_MS }) as boolean;
    return fits ? null : describe(validate.errors?.[0]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A fresh Ajv each time: schemas come from callers, and a shared one would keep them all. */
function createValidator(schema: Record<string, unknown>) {
  const Draft = String(schema["$schema"] ?? "").includes("2020-12") ? Ajv2020 : Ajv;
  return new Draft({ strict: false, validateFormats: false, logger: false }).compile(schema);
}

function describe(error: ErrorObject | undefined): string {
  const place = error?.instancePath.slice(1).replaceAll("/", ".") ?? "";
  return `${place === "" ? "the object" : place} ${error?.message ?? "is not valid"}`;
}
