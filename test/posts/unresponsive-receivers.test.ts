import { expect, test } from "vitest";
import { createUnresponsiveReceivers } from "../../src/posts/unresponsive-receivers.ts";

test("an origin is unresponsive from a POST without a response until the next response", () => {
  const silent = createUnresponsiveReceivers();
  expect(silent.has("https://a.example")).toBe(false);
  silent.record("https://a.example", true);
  expect(silent.has("https://a.example")).toBe(false);
  silent.record("https://a.example", false);
  silent.record("https://b.example", true);
  expect(silent.has("https://a.example")).toBe(true);
  silent.record("https://a.example", true);
  expect(silent.has("https://a.example")).toBe(false);
});

test("an origin that has not been called for ten minutes is forgotten", () => {
  let now = 0;
  const silent = createUnresponsiveReceivers(() => now);
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

test("the oldest of more than ten thousand origins is forgotten", () => {
  const silent = createUnresponsiveReceivers();
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
