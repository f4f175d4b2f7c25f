import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha256Hex } from "../../src/requests/sha256-hex.ts";

test.each([
  ["an empty text", ""],
  ["a short text", "Grüße 🙂"],
  ["a text of exactly one slice", "x".repeat(65_536)],
  ["a long text", "x".repeat(200_000)],
  ["a long text of pairs that begins at an even position", "🙂".repeat(100_000)],
  ["a long text of pairs that begins at an odd position", `x${"🙂".repeat(100_000)}`],
  ["a long text of lone halves", "\ud83d".repeat(100_000)],
  ["a long text that ends in a lone half", `${"x".repeat(131_071)}\ud83d`],
])("%s has the hash of its UTF-8 bytes", (_, text) => {
  expect(sha256Hex(text)).toBe(createHash("sha256").update(Buffer.from(text)).digest("hex"));
});
