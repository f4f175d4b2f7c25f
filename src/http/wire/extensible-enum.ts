import type { z } from "zod";

/**
 * Names an enum that later versions can extend. Bridge accepts exactly the listed values; the OpenAPI document allows
 * any string, so that a client that validates responses keeps working when a value is added.
 */
export function extensibleEnum<Values extends z.ZodEnum>(values: Values, { id, description }: { id: string; description: string }): Values {
  return values.meta({
    id,
    description: `${description} Later versions can add values: treat an unknown value as the most general case.`,
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      const { type, enum: known } = jsonSchema;
      delete jsonSchema["type"];
      delete jsonSchema["enum"];
      jsonSchema["anyOf"] = [{ type, enum: known }, { type }];
    },
  });
}
