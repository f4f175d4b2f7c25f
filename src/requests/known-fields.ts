import type { z } from "zod";

type Schema = z.core.$ZodType;

/** Returns the names of the fields that a schema knows at a path; none if they are not fixed. */
export function listKnownFields(schema: Schema, path: readonly PropertyKey[]): string[] {
  let schemas = unwrap(schema);
  for (const key of path) schemas = schemas.flatMap((at) => childrenOf(at, key)).flatMap(unwrap);
  return schemas.flatMap((at) => Object.keys(definitionOf(at).shape ?? {}));
}

/** The parts of the definitions of zod's types that lead to other schemas. */
interface Definition {
  shape?: Readonly<Record<string, Schema>>;
  element?: Schema;
  valueType?: Schema;
  innerType?: Schema;
  in?: Schema;
  options?: readonly Schema[];
}

const definitionOf = (schema: Schema): Definition => schema._zod.def as Definition;

/** Returns the schemas that a schema wraps or of which it is a union. A transformation applies to its input. */
function unwrap(schema: Schema): Schema[] {
  const { innerType, in: input, options } = definitionOf(schema);
  const inner = options ?? [innerType ?? input].filter((one) => one !== undefined);
  return inner.length === 0 ? [schema] : inner.flatMap(unwrap);
}

function childrenOf(schema: Schema, key: PropertyKey): Schema[] {
  const { shape, element, valueType } = definitionOf(schema);
  const field = shape !== undefined && Object.hasOwn(shape, key) ? shape[String(key)] : undefined;
  return [field ?? element ?? valueType].filter((child) => child !== undefined);
}
