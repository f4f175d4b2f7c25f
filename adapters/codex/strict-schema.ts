/** Keywords of JSON Schema that say something and that the vendor's strict mode takes. */
const takenKeywords = new Set([
  ...["type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "definitions"],
  ...["description", "title", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minItems", "maxItems"],
]);

/**
 * Does the vendor's strict mode take this schema? It wants an object whose properties are all required and no others allowed,
 * at every depth; any other schema it refuses, and the task with it.
 */
export const isStrictSchema = (schema: Record<string, unknown>): boolean =>
  schema["type"] === "object" && schema["anyOf"] === undefined && isStrict(schema);

function isStrict(schema: unknown): boolean {
  if (!isRecord(schema) || !Object.keys(schema).every((keyword) => takenKeywords.has(keyword))) return false;
  const { type, properties, required, additionalProperties, items, anyOf, $defs, definitions } = schema;
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object")) || properties !== undefined;
  if (isObject) {
    const named = isRecord(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !named.every((name) => Array.isArray(required) && required.includes(name))) return false;
  }
  const inside = [properties, $defs, definitions].flatMap((group) => (isRecord(group) ? Object.values(group) : []));
  return [...inside, ...(items === undefined ? [] : [items]), ...(Array.isArray(anyOf) ? anyOf : [])].every(isStrict);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
