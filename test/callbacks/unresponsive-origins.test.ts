import { expect, test } from "vitest";
import { createUnresponsiveOrigins } from "../../src/callbacks/unresponsive-origins.ts";

test("an origin is silent from a POST without an answer to the next with one", () => {
  const silent = createUnresponsiveOrigins();
  expect(silent.has("https://a.example")).toBe(false);
  silent.record("https://a.example", true);
  expect(silent.has("https://a.example")).toBe(false);
  silent.record("https://a.example", false);
  silent.record("https://b.example", true);
  expect(silent.has("https://a.example")).toBe(true);
  silent.record("https://a.example", true);
  expect(silent.has("https://a.example")).toBe(false);
});

test("what has not been called for ten minutes is forgotten", () => {
  let now = 0;
  const silent = createUnresponsiveOrigins(() => now);
  silent.record("https://a.example", false);
  silent.record("https://b.example", false);
  now = 300_000;
  silent.record("https://a.example", false);
  now = 600_000;
  silent.forgetOld();
  expect(["https://a.example", "https://b.example"].map(silent.has)).toEqual([true, false]);
  now = 900_000;
  silent.forgetOld();
  expect(silent.has("https://a.example")).toBe(false);
});

test("of more than ten thousand the longest silent is forgotten", () => {
  const silent = createUnresponsiveOrigins();
  for (let index = 0; index < 10_000; index += 1) silent.record(`https://h${index}.example`, false);
  silent.record("https://h0.example", false);
  silent.record("https://one-more.example", false);
  expect(["https://h0.example", "https://h1.example", "https://h2.example", "https://one-more.example"].map(silent.has)).toEqual([
    true,
    false,
    true,
    true,
  ]);
});
