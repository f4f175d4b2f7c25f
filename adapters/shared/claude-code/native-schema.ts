import type { ExecutionRequest } from "#contract";

/** Maximum size of a JSON Schema in an argument. */
const SCHEMA_LIMIT_BYTES = 100 * 1024;

/** Returns the schema for Claude Code's structured output; null if Bridge parses the text of the answer instead. */
export function getNativeSchema({ outputStrategy }: Pick<ExecutionRequest, "outputStrategy">): string | null {
  if (outputStrategy.type !== "structured" || !isSupported(outputStrategy.schema)) return null;
  const schema = JSON.stringify(outputStrategy.schema);
  return Buffer.byteLength(schema) > SCHEMA_LIMIT_BYTES ? null : schema;
}

/**
 * Claude Code supports only draft 7. It uses the schema as the input of a tool, which the vendor restricts to an object
 * without alternatives.
 */
function isSupported({ $schema, type, anyOf, oneOf, allOf }: Record<string, unknown>): boolean {
  return (
    type === "object" && [anyOf, oneOf, allOf].every((alternatives) => alternatives === undefined) && !/2020-12/.test(String($schema ?? ""))
  );
}

/** Returns whether Claude Code rejected the schema before it started. Bridge then parses the text of the answer. */
export const isSchemaRefused = (error: string | undefined): boolean => error?.includes("--json-schema is not a valid JSON Schema") === true;
