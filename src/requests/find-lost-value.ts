import { isExactNumber } from "#contract";
import { MAX_JSON_DEPTH } from "./canonical-json.ts";
import { findEndOfString } from "./scan-json.ts";

/** A value that `JSON.parse` drops or changes, and the correction. */
export interface LostValue {
  path: (string | number)[];
  message: string;
}

interface Container {
  /** The names so far; null in an array. */
  names: Set<string> | null;
  /** The name or the index of the current value. */
  key: string | number;
  isAtName: boolean;
}

/** Maximum characters of a number in an error. It may be as long as the body. */
const MAX_SHOWN_CHARACTERS = 40;

/**
 * Finds the first value of a JSON text that `JSON.parse` loses: a member whose name its object repeats, or a number that a double cannot
 * hold. The text must be valid JSON. This takes longer than parsing, so call it only if `scanJson` indicates such a value.
 */
export function findLostValue(bytes: Buffer): LostValue | null {
  const open: Container[] = [];
  for (let index = 0; index < bytes.length; index += 1) {
    const container = open.at(-1);
    switch (bytes[index]) {
      case 0x22: {
        const end = findEndOfString(bytes, index + 1);
        if (container?.names != null && container.isAtName) {
          container.key = JSON.parse(bytes.toString("utf8", index, end + 1)) as string;
          container.isAtName = false;
          if (container.names.has(container.key)) return lost(open, "appears more than once in its object; send it once");
          container.names.add(container.key);
        }
        index = end;
        break;
      }
      case 0x7b: // {
        open.push({ names: new Set(), key: "", isAtName: true });
        break;
      case 0x5b: // [
        open.push({ names: null, key: 0, isAtName: false });
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        break;
      case 0x2c: // ,
        if (typeof container?.key === "number") container.key += 1;
        else if (container !== undefined) container.isAtName = true;
        break;
      default: {
        const end = findEndOfNumber(bytes, index);
        if (end === index) break;
        if (!isShortInteger(bytes, index, end)) {
          const literal = bytes.toString("latin1", index, end);
          if (!isExactNumber(literal)) return lost(open, describeNumber(literal));
        }
        index = end - 1;
      }
    }
  }
  return null;
}

/** Significant digits that a double always keeps. */
const KEPT_DIGITS = 15;
/** Integers with fewer characters are within the range of a double. */
const MAX_FINITE_CHARACTERS = 300;

/** Whether a number is an integer that a double holds by the number of its significant digits, which needs no conversion. */
function isShortInteger(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > MAX_FINITE_CHARACTERS) return false;
  let first = 0;
  let last = 0;
  for (let index = bytes[start] === 0x2d ? start + 1 : start; index < end; index += 1) {
    const byte = bytes[index] as number;
    if (byte < 0x30 || byte > 0x39) return false;
    if (byte === 0x30) continue;
    if (first === 0) first = index;
    last = index;
  }
  return last - first < KEPT_DIGITS;
}

/** Returns `start` if no number begins there. */
function findEndOfNumber(bytes: Buffer, start: number): number {
  if (!isDigitOrMinus(bytes[start] as number)) return start;
  let end = start + 1;
  while (end < bytes.length && isPartOfNumber(bytes[end] as number)) end += 1;
  return end;
}

const isDigitOrMinus = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || byte === 0x2d;
/** Digits, signs, the point, and the letter of an exponent. */
const isPartOfNumber = (byte: number): boolean => isDigitOrMinus(byte) || byte === 0x2e || byte === 0x2b || byte === 0x65 || byte === 0x45;

function describeNumber(literal: string): string {
  const value = Number(literal);
  const shown = literal.length <= MAX_SHOWN_CHARACTERS ? literal : `${literal.slice(0, MAX_SHOWN_CHARACTERS)}…`;
  const changed = Number.isFinite(value) ? JSON.stringify(value) : "infinity";
  return `is ${shown}, which exceeds the range or the precision of a number and would become ${changed}; send it as a string`;
}

/** The error reports only the beginning of a deep path. */
function lost(open: readonly Container[], message: string): LostValue {
  const path = open.map(({ key }) => key);
  return { path: path.length < MAX_JSON_DEPTH ? path : path.slice(0, 3), message };
}
