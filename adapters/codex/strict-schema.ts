import { isJsonObject } from "#contract";

/** JSON Schema keywords that OpenAI's strict mode supports. */
const SUPPORTED_KEYWORDS = new Set([
  ...["type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "definitions"],
  ...["description", "title", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minItems", "maxItems"],
]);

/**
 * Checks whether OpenAI's strict mode accepts a schema: an object whose properties are all required and that allows no others, at every
 * depth. The API rejects requests with any other schema.
 */
export const isStrictSchema = (schema: Record<string, unknown>): boolean =>
  schema["type"] === "object" && schema["anyOf"] === undefined && isStrict(schema);

function isStrict(schema: unknown): boolean {
  if (!isJsonObject(schema) || !Object.keys(schema).every((keyword) => SUPPORTED_KEYWORDS.has(keyword))) return false;
  const { type, properties, required, additionalProperties, items, anyOf, $defs, definitions } = schema;
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object")) || properties !== undefined;
  if (isObject) {
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !names.every((name) => Array.isArray(required) && required.includes(name))) return false;
  }
  const nested = [properties, $defs, definitions].flatMap((group) => (isJsonObject(group) ? Object.values(group) : []));
  return [...nested, ...(items === undefined ? [] : [items]), ...(Array.isArray(anyOf) ? anyOf : [])].every(isStrict);
}
