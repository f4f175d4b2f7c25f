import { isAscii, isUtf8 } from "node:buffer";
import { BridgeError } from "../errors.ts";
import { toDotted } from "./field-errors.ts";
import { findLostValue } from "./find-lost-value.ts";
import { scanJson } from "./scan-json.ts";

/**
 * Maximum JSON values in one request: the body and each member and element in it. Distinct keys are the most expensive:
 * parsing, validating and hashing 50,000 of them takes about 100 ms of CPU time. 500 tools with 20 parameters each have
 * 40,000 values.
 */
export const MAX_JSON_VALUES = 50_000;

/**
 * Memory of one value in addition to its text. It covers the parsed body and the request that Bridge builds from it. Measured: an object
 * with one key that no other object has counts as two values and takes 188 bytes.
 */
const BYTES_PER_VALUE = 96;

/** JSON that was checked and not parsed yet. */
interface CheckedJson {
  /** The memory that the parsed values will occupy, in bytes. It can be 30 times the size of the text. */
  memoryBytes: number;
  /**
   * Returns the value. Throws a BridgeError for malformed JSON, and one with the path for a member that is repeated and a number that a
   * double cannot hold.
   */
  parse(): unknown;
}

/** Checks JSON from a client before it is parsed. Throws a BridgeError for bytes that are not UTF-8, and for too many values. */
export function checkJson(bytes: Buffer): CheckedJson {
  // The decoder would replace invalid bytes with other characters.
  if (!isUtf8(bytes)) throw new BridgeError("invalid_request", "The body is not valid UTF-8.");
  const { values, names, hasLongNumber } = scanJson(bytes, MAX_JSON_VALUES);
  if (values > MAX_JSON_VALUES)
    throw new BridgeError(
      "too_large",
      `The JSON contains more than ${MAX_JSON_VALUES} values (members and elements, nested ones included). Send large data as one string or in a file of the workspace.`,
    );
  return {
    // V8 keeps a text that is not Latin-1 in two bytes for each character.
    memoryBytes: (isAscii(bytes) ? 1 : 2) * bytes.length + BYTES_PER_VALUE * values,
    parse() {
      const value = parse(bytes);
      // Only a body that may have lost a value is read a second time.
      const lost = hasLongNumber || countNames(value) < names ? findLostValue(bytes) : null;
      if (lost === null) return value;
      const errors = [{ path: toDotted(lost.path), message: lost.message }];
      throw new BridgeError("invalid_request", "The JSON contains a value that Bridge could not keep.", { errors });
    },
  };
}

function parse(bytes: Buffer): unknown {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    throw new BridgeError("invalid_request", "The body begins with a byte order mark (U+FEFF). Send the JSON without it.");
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new BridgeError("invalid_request", `The body is not valid JSON: ${(error as Error).message}.`);
  }
}

/** Counts the members of all objects. It does not recurse, because the depth has not been checked. */
function countNames(root: unknown): number {
  let count = 0;
  const waiting = [root];
  const visit = (member: unknown): void => {
    if (typeof member === "object" && member !== null) waiting.push(member);
  };
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) {
      for (const member of value) visit(member);
      continue;
    }
    // Nothing is inherited: JSON.parse sets even `__proto__` as an own member. `Object.values` would create a list for each object.
    for (const name in value as object) {
      count += 1;
      visit((value as Record<string, unknown>)[name]);
    }
  }
  return count;
}
