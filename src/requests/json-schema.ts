import vm from "node:vm";
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** A pattern of a caller's schema may backtrack for ever, and code for a hostile schema take seconds to make; either is cut off after this. */
const CHECK_LIMIT_MS = 1000;

/** What is wrong with a JSON Schema (draft 7, or 2020-12 when `$schema` says so), in words; null when it can be used. */
export function checkSchema(schema: Record<string, unknown>): string | null {
  try {
    const { metaSchemas } = draftOf(schema);
    if (metaSchemas.validateSchema(schema) !== true) return describe("the schema", metaSchemas.errors?.[0]);
    withinLimit(() => compile(schema));
    return null;
  } catch (error) {
    return describeFailure(error);
  }
}

/** Why the value does not fit the schema, in words; null when it fits. */
export function checkAgainstSchema(schema: Record<string, unknown>, value: unknown): string | null {
  try {
    return withinLimit(() => {
      const validate = compile(schema);
      return validate(value) ? null : describe("the object", validate.errors?.[0]);
    });
  } catch (error) {
    return describeFailure(error);
  }
}

/** Cuts the work off where it stands; what it has left half done must not be used again. */
function withinLimit<T>(work: () => T): T {
  limited.work = work;
  try {
    return callWork.runInContext(limited, { timeout: CHECK_LIMIT_MS }) as T;
  } finally {
    limited.work = undefined;
  }
}

/** Made once: a new context takes longer than most checks. */
const limited = vm.createContext({ work: undefined as (() => unknown) | undefined });
const callWork = new vm.Script("work()");

function describeFailure(error: unknown): string {
  if (error instanceof RangeError) return "the schema is too large";
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? `takes longer than ${CHECK_LIMIT_MS / 1000} s to check` : message;
}

// The optimizer of the generated code costs more than it ever saves for code that runs once.
const options: Options = { strict: false, validateFormats: false, logger: false, code: { optimize: false } };

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
  const allowed = error?.params["allowedValues"];
  // Ajv's own message does not list the values.
  const message = Array.isArray(allowed) ? `must be one of ${allowed.map((value) => JSON.stringify(value)).join(", ")}` : error?.message;
  return `${place === "" ? whole : place} ${message ?? "is not valid"}`;
}
