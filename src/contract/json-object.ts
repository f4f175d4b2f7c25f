import { z } from "zod";

/** Returns whether a JSON value is an object. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A JSON object with any members, passed by reference. A zod record drops a member named `__proto__`. */
export const jsonObjectSchema = z
  .custom<Record<string, unknown>>(isJsonObject, "must be an object")
  .meta({ override: { type: "object", propertyNames: { type: "string" }, additionalProperties: {} } });
