import type { z } from "zod";

/**
 * A named list of values that later versions extend. Bridge's own code accepts exactly the listed values; the description of the API allows any
 * string, so that a client that validates answers keeps working when a value is added.
 */
export function openEnum<Values extends z.ZodEnum>(values: Values, { id, description }: { id: string; description: string }): Values {
  return values.meta({
    id,
    description: `${description} Treat a value that you do not know as the most general case: later versions add some.`,
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      const { type, enum: known } = jsonSchema;
      delete jsonSchema["type"];
      delete jsonSchema["enum"];
      jsonSchema["anyOf"] = [{ type, enum: known }, { type }];
    },
  });
}
