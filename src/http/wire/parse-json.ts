import { isUtf8 } from "node:buffer";
import { BridgeError } from "../../errors.ts";
import { countJsonValues } from "./count-json-values.ts";

/**
 * Maximum JSON values in one request: the body and each member and element in it. Distinct keys are the most expensive:
 * parsing, validating and hashing 50,000 of them takes about 100 ms of CPU time. 500 tools with 20 parameters each have
 * 40,000 values.
 */
export const MAX_JSON_VALUES = 50_000;

/** Parses JSON from a client. Throws a BridgeError for bytes that are not UTF-8, too many values, and malformed JSON. */
export function parseJson(bytes: Buffer): unknown {
  // The decoder would replace invalid bytes with other characters.
  if (!isUtf8(bytes)) throw new BridgeError("invalid_request", "The body is not valid UTF-8.");
  // Each value takes at least two bytes, so most bodies need not be counted.
  if (bytes.length >= 2 * MAX_JSON_VALUES && countJsonValues(bytes, MAX_JSON_VALUES) > MAX_JSON_VALUES)
    throw new BridgeError(
      "too_large",
      `The JSON contains more than ${MAX_JSON_VALUES} values (members and elements, nested ones included). Send large data as one string or in a file of the workspace.`,
    );
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new BridgeError("invalid_request", `The body is not valid JSON: ${(error as Error).message}.`);
  }
}
