import type { ExecutionRequest } from "#contract";

/** The longest JSON Schema that fits into an argument. */
const SCHEMA_LIMIT_BYTES = 100 * 1024;

/** The schema for Claude Code's own structured output; null where Bridge is to read the text. */
export function nativeSchema({ outputStrategy }: Pick<ExecutionRequest, "outputStrategy">): string | null {
  if (outputStrategy.type !== "structured" || !isTaken(outputStrategy.schema)) return null;
  const schema = JSON.stringify(outputStrategy.schema);
  return Buffer.byteLength(schema) > SCHEMA_LIMIT_BYTES ? null : schema;
}

/** Claude Code takes draft 7 alone. It makes the input of a tool of the schema, which for the vendor is an object without alternatives. */
function isTaken({ $schema, type, anyOf, oneOf, allOf }: Record<string, unknown>): boolean {
  return (
    type === "object" && [anyOf, oneOf, allOf].every((alternatives) => alternatives === undefined) && !/2020-12/.test(String($schema ?? ""))
  );
}

/** What Claude Code takes for no schema it refuses before it does anything; Bridge then reads the object from the text. */
export const isSchemaRefused = (error: string | undefined): boolean => error?.includes("--json-schema is not a valid JSON Schema") === true;
