import { expect, test } from "vitest";
import { findLastJsonObject, TooManyValuesError } from "../../src/requests/last-json-object.ts";
import { cpuCost } from "../support/cpu-time.ts";

test.each([
  ["nothing", "", undefined],
  ["prose only", "no braces here", undefined],
  ["an unclosed object", '{"a": ', undefined],
  ["an array is no object", "[1]", undefined],
  ["the whole text", ' {"a": 1}\n', { a: 1 }],
  ["a fenced block", 'Here:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
  ["the last of two fenced blocks", '```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', { b: 2 }],
  ["a fenced block without a name", '```\n{"a": 1}\n```', { a: 1 }],
  ["a broken last block falls back to the one before", '```json\n{"a": 1}\n```\n```json\n{"b": \n```', { a: 1 }],
  ["an object in prose", 'The answer is {"a": {"b": 2}} as you see.', { a: { b: 2 } }],
  ["the last of two objects in prose", 'first {"a": 1} then {"b": 2}.', { b: 2 }],
  ["braces inside strings", 'so: {"a": "}{"}', { a: "}{" }],
  ["CRLF", '```json\r\n{"a": 1}\r\n```', { a: 1 }],
])("the last JSON object of a text: %s", (_, text, expected) => {
  expect(findLastJsonObject(text)?.object).toEqual(expected);
});

test.each([
  ["the whole text", ' {"a": 1}\n', '{"a": 1}'],
  ["a fenced block", 'Here:\n```json\n{\n  "a": 12345678901234567890\n}\n```\nDone.', '{\n  "a": 12345678901234567890\n}'],
  ["an object in prose", 'The answer is {"a": {"b": 2}} as you see.', '{"a": {"b": 2}}'],
])("the text of the object in %s is the part that was parsed, as it was written", (_, text, json) => {
  expect(findLastJsonObject(text)?.json).toBe(json);
});

test("a text full of braces is parsed with a bounded number of tries", () => {
  expect(findLastJsonObject(`${"{".repeat(100_000)}x}`)).toBeUndefined();
});

test("a long text whose every opening brace is valid is parsed in bounded time", () => {
  const text = `${'{"":'.repeat(300)}"${"x".repeat(10_000_000)}"}`;
  expect(cpuCost(() => expect(findLastJsonObject(text)).toMatchObject({ object: { "": expect.any(String) } }))).toBeLessThan(75);
});

test.each([
  ["the whole text", (json: string) => json],
  ["a fenced block", (json: string) => `Here:\n\`\`\`json\n${json}\n\`\`\``],
])("an object with too many values in %s is not parsed", (_, write) => {
  const dense = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`n${index}`, 1])));
  expect(() => findLastJsonObject(write(dense))).toThrow(TooManyValuesError);
  const long = JSON.stringify({ text: ",".repeat(300_000) });
  expect(findLastJsonObject(write(long))?.json).toBe(long);
});

test("prose with many commas around an object is not counted", () => {
  expect(findLastJsonObject(`${"a, ".repeat(200_000)} {"a":1}`)?.object).toEqual({ a: 1 });
});
