import { findEndOfString } from "../requests/scan-json.ts";

/**
 * Finds the `requestId` of a frame without parsing the frame, whose values could occupy many times its size. Returns null if it is missing,
 * empty or not a string.
 */
export function findRequestId(bytes: Buffer): string | null {
  let depth = 0;
  let isValueNext = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1;
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth -= 1;
    if (byte > SPACE && byte !== COLON && byte !== QUOTE) isValueNext = false;
    if (byte !== QUOTE) continue;
    const end = findEndOfString(bytes, index + 1);
    if (isValueNext) return parseText(bytes.toString("utf8", index, end + 1));
    isValueNext = depth === 1 && NAME.equals(bytes.subarray(index, end + 1));
    index = end;
  }
  return null;
}

const NAME = Buffer.from('"requestId"');
const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

function parseText(literal: string): string | null {
  try {
    return (JSON.parse(literal) as string) || null;
  } catch {
    return null;
  }
}
