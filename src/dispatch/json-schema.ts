import vm from "node:vm";
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** A pattern of a caller's schema may backtrack for ever; the check is cut off after this. */
const CHECK_LIMIT_MS = 1000;

/** What is wrong with a JSON Schema (draft 7, or 2020-12 when `$schema` says so), in words; null when it can be used. */
export function checkSchema(schema: Record<string, unknown>): string | null {
  try {
    const { metaSchemas } = draftOf(schema);
    if (metaSchemas.validateSchema(schema) !== true) return describe("the schema", metaSchemas.errors?.[0]);
    compile(schema);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Why the value does not fit the schema, in words; null when it fits. */
export function checkAgainstSchema(schema: Record<string, unknown>, value: unknown): string | null {
  try {
    const validate = compile(schema);
    const fits = vm.runInNewContext("validate(value)", { validate, value }, { timeout: CHECK_LIMIT_MS }) as boolean;
    return fits ? null : describe("the object", validate.errors?.[0]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const options: Options = { strict: false, validateFormats: false, logger: false };

/** The rules that schemas themselves follow are compiled once, and hold nothing of a caller's. */
const drafts = {
  draft7: { Draft: Ajv, metaSchemas: new Ajv(options) },
  draft2020: { Draft: Ajv2020, metaSchemas: new Ajv2020(options) },
};

const draftOf = (schema: Record<string, unknown>) => (String(schema["$schema"]).includes("2020-12") ? drafts.draft2020 : drafts.draft7);

/** A fresh Ajv each time: a shared one would keep every schema that it has seen, and mix up those of one `$id`. */
function compile(schema: Record<string, unknown>) {
  const { Draft } = draftOf(schema);
  return new Draft({ ...options, meta: false, validateSchema: false }).compile(schema);
}

function describe(whole: string, error: ErrorObject | undefined): string {
  const place = error?.instancePath.slice(1).replaceAll("/", ".") ?? "";
  return `${place === "" ? whole : place} ${error?.message ?? "is not valid"}`;
}
