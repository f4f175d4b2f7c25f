import { parseExactJson } from "bridge-client";

/**
 * Parses JSON of the user, which may begin with a byte order mark. A number that JavaScript would change is sent as it was written, so that
 * Bridge checks what the user wrote. Throws SyntaxError.
 */
export const parseJson = (text: string): unknown => parseExactJson(text.trim());

/** Returns whether a JSON value is an object. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
