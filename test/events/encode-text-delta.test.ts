import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeTextDelta, MAX_TEXT_BYTES } from "../../src/events/encode-text-delta.ts";
import { anyCharacter } from "../support/any-character.ts";

const contents = (pieces: readonly string[]): string[] => pieces.map((piece) => (JSON.parse(piece) as { content: string }).content);

test.each([
  ["nothing", "", 0],
  ["a word", "word", 1],
  ["exactly one piece", "x".repeat(MAX_TEXT_BYTES), 1],
  ["one byte more", "x".repeat(MAX_TEXT_BYTES + 1), 2],
  ["one pair that does not fit any more", `${"x".repeat(MAX_TEXT_BYTES - 1)}😀`, 2],
  ["control characters, which take six bytes each", "\u0000".repeat(MAX_TEXT_BYTES), 7],
])("%s", (_name, text, count) => {
  const pieces = encodeTextDelta(text);
  expect(pieces).toHaveLength(count);
  expect(contents(pieces).join("")).toBe(text);
});

test("the pieces of any text join to the well-formed text, each within 64 KiB and without split characters", () => {
  const text = fc
    .tuple(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 20_000 }))
    .map(([unit, count]) => unit.repeat(count));
  fc.assert(
    fc.property(text, (whole) => {
      const pieces = contents(encodeTextDelta(whole));
      expect(pieces.join("") === whole.toWellFormed()).toBe(true);
      for (const piece of pieces) {
        expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(MAX_TEXT_BYTES);
        expect(piece.isWellFormed()).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});
