import { z } from "zod";

/** A JSON object with any members, passed by reference. A zod record drops a member named `__proto__`. */
export const jsonObjectSchema = z
  .custom<Record<string, unknown>>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "must be an object")
  .meta({ override: { type: "object", propertyNames: { type: "string" }, additionalProperties: {} } });
