import fc from "fast-check";
import { expect, test } from "vitest";
import { measureEncodedSize } from "../../../../adapters/shared/process/encoded-size.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const sizeInJson = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

test.each([
  ["nothing", "", 0],
  ["plain text", "abc", 3],
  ["a control character", "\u0001", 6],
  ["a control character with a short escape", "\n", 2],
  ["a quote and a backslash", '"\\', 4],
  ["a replaced invalid byte", "\ufffd", 3],
  ["a character of two units", "😀", 4],
  ["half a pair", "\ud83d", 6],
  ["the halves in the wrong order", "\ude00\ud83d", 12],
  ["half a pair before a whole one", "\ud83d😀", 10],
])("the encoded size counts %s", (_name, text, bytes) => {
  expect(measureEncodedSize(text)).toBe(bytes);
  expect(sizeInJson(text)).toBe(bytes);
});

test("the encoded size is the size that JSON.stringify makes of any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 50 }), (text) => {
      expect(measureEncodedSize(text)).toBe(sizeInJson(text));
    }),
  );
});
