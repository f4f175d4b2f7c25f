import { isUtf8 } from "node:buffer";
import { BridgeError } from "../errors.ts";
import { countJsonValues } from "./count-json-values.ts";

/**
 * Most JSON values in one request: the body and each member and element in it. A value costs up to 2 µs on its way into the database, so
 * a body of 8 MiB stays below 150 ms of the event loop. 1,000 tools with 30 parameters each have 70,000.
 */
export const MAX_JSON_VALUES = 100_000;

/** Parses what a client sent. Throws a BridgeError for bytes that are not UTF-8, too many values, and malformed JSON. */
export function parseJson(bytes: Buffer): unknown {
  // Other bytes would arrive as other characters than were sent.
  if (!isUtf8(bytes)) throw new BridgeError("invalid_request", "The body is not valid UTF-8.");
  // Each value takes two bytes or more, so most bodies need no count.
  if (bytes.length >= 2 * MAX_JSON_VALUES && countJsonValues(bytes, MAX_JSON_VALUES) > MAX_JSON_VALUES)
    throw new BridgeError(
      "too_large",
      `The JSON holds more than ${MAX_JSON_VALUES} values (members and elements, nested ones included). Send large data as one string or in a file of the workspace.`,
    );
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new BridgeError("invalid_request", `The body is not valid JSON: ${(error as Error).message}.`);
  }
}
