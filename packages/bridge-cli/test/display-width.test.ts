import { expect, test } from "vitest";
import { cutToWidth, measureWidth } from "../src/display-width.ts";

test.each([
  ["ASCII", "abc", 3],
  ["accents, also combined", "\u00e9e\u0301", 2],
  ["ideographs, kana and Hangul", "漢かカ한", 8],
  ["full-width letters", "Ａｂ", 4],
  ["emoji", "👍🚀", 4],
  ["a symbol that is shown as emoji", "❤\ufe0f", 2],
  ["an ideograph beyond the first plane", "\u{20000}", 2],
])("measures %s", (_, text, width) => {
  expect(measureWidth(text)).toBe(width);
});

test.each([
  ["a text that fits", "漢字", 4, "漢字"],
  ["ASCII", "abcdef", 4, "abc…"],
  ["wide characters", "漢字漢字", 5, "漢字…"],
  ["a wide character that fits only in part", "漢字漢字", 4, "漢…"],
  ["a mark that belongs to the last character", "abe\u0301cd", 4, "abe\u0301…"],
])("displayWidth cuts %s", (_, text, columns, expected) => {
  const cut = cutToWidth(text, columns);
  expect(cut).toBe(expected);
  expect(measureWidth(cut)).toBeLessThanOrEqual(columns);
});
