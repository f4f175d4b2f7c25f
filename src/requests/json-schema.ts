import vm from "node:vm";
import { Ajv, type ErrorObject, type KeywordDefinition, type Options, str } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isMultiple } from "./is-multiple.ts";

/** Time limit of a check. Patterns of a caller's schema may backtrack without end, and compiling a hostile schema can take seconds. */
const CHECK_LIMIT_MS = 1000;

/** Returns the fault of a JSON Schema (draft 7, or 2020-12 if `$schema` names it); null if it is valid. */
export function checkSchema(schema: Record<string, unknown>): string | null {
  try {
    const { metaSchemas } = draftOf(schema);
    if (metaSchemas.validateSchema(schema) !== true) return describe("the schema", metaSchemas.errors?.[0]);
    runWithLimit(() => compile(schema));
    return null;
  } catch (error) {
    return describeFailure(error);
  }
}

/** Returns why the value does not match the schema; null if it does. */
export function checkAgainstSchema(schema: Record<string, unknown>, value: unknown): string | null {
  try {
    return runWithLimit(() => {
      const validate = compile(schema);
      return validate(value) ? null : describe("the object", validate.errors?.[0]);
    });
  } catch (error) {
    return describeFailure(error);
  }
}

/** Terminates the work at the time limit, at any point. State that it has changed must not be used afterwards. */
function runWithLimit<T>(work: () => T): T {
  limitedContext.work = work;
  try {
    return callWork.runInContext(limitedContext, { timeout: CHECK_LIMIT_MS }) as T;
  } finally {
    limitedContext.work = undefined;
  }
}

/** Created once, because a new context takes longer than most checks. */
const limitedContext = vm.createContext({ work: undefined as (() => unknown) | undefined });
const callWork = new vm.Script("work()");

function describeFailure(error: unknown): string {
  if (error instanceof RangeError) return "the schema is too large";
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? `takes longer than ${CHECK_LIMIT_MS / 1000} s to check` : message;
}

// Optimizing the generated code takes longer than it saves, because the code runs once.
// A number beyond the range of a double, such as 1e999, is infinite here and matches no type of numbers.
// Without `ownProperties`, an object has the properties that it inherits, such as `constructor`.
const options: Options = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  validateFormats: false,
  logger: false,
  code: { optimize: false },
};

/** The meta-schemas are compiled once. They contain no data of callers. */
const drafts = {
  draft7: { Draft: Ajv, metaSchemas: new Ajv(options) },
  draft2020: { Draft: Ajv2020, metaSchemas: new Ajv2020(options) },
};

const draftOf = (schema: Record<string, unknown>) => (String(schema["$schema"]).includes("2020-12") ? drafts.draft2020 : drafts.draft7);

/** Uses a new Ajv for each schema, because an instance keeps all its schemas and confuses those with the same `$id`. */
function compile(schema: Record<string, unknown>) {
  const { Draft } = draftOf(schema);
  const draft = new Draft({ ...options, meta: false, validateSchema: false });
  // Replaces Ajv's `multipleOf`, which divides doubles and so rejects 19.99 as a multiple of 0.01.
  return draft.removeKeyword("multipleOf").addKeyword(multipleOf).compile(schema);
}

const multipleOf: KeywordDefinition = {
  keyword: "multipleOf",
  type: "number",
  schemaType: "number",
  validate: (divisor: number, value: number) => isMultiple(value, divisor),
  error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
};

function describe(whole: string, error: ErrorObject | undefined): string {
  const path = error?.instancePath.slice(1).replaceAll("/", ".") ?? "";
  const allowed = error?.params["allowedValues"];
  // Ajv's own message does not list the values.
  const message = Array.isArray(allowed) ? `must be one of ${allowed.map((value) => JSON.stringify(value)).join(", ")}` : error?.message;
  return `${path === "" ? whole : path} ${message ?? "is not valid"}`;
}
