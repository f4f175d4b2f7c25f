import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeEventData, MAX_EVENT_DATA_BYTES } from "../../src/events/encode-event-data.ts";
import { anyCharacter } from "../support/any-character.ts";
import { countBlocks } from "../support/count-blocks.ts";
import { FIELDS } from "./large-data-workloads.ts";

const KIB = 1024;
const bytes = (json: string): number => Buffer.byteLength(json);

test("event data within the limit is stored unchanged", () => {
  const data = { content: 'a "quoted" line\r\nand \u0000 \u007f \u0085 😀', list: [1, null, { deep: true }] };
  expect(encodeEventData(data)).toBe(JSON.stringify(data));
  const exact = { text: "x".repeat(MAX_EVENT_DATA_BYTES - '{"text":""}'.length) };
  expect(encodeEventData(exact)).toBe(JSON.stringify(exact));
});

test("unpaired surrogates in names and values become U+FFFD", () => {
  expect(encodeEventData({ "\ud83d": ["\ude00", { text: "a\ud83d" }], json: '"\\ud83d"' })).toBe(
    JSON.stringify({ "\ufffd": ["\ufffd", { text: "a\ufffd" }], json: '"\\ud83d"' }),
  );
});

describe("event data over 256 KiB", () => {
  test.each([
    ["ASCII", "x"],
    ["two bytes", "é"],
    ["three bytes", "漢"],
    ["surrogate pairs", "😀"],
    ["lone surrogates", "\ud800"],
    ["quotes", '"'],
    ["backslashes", "\\"],
    ["NUL", "\u0000"],
    ["line ends", "\r\n"],
    ["a mixture", 'a"\\\u0001é漢😀\udc00'],
  ])("event data over 256 KiB keeps the beginning of a long string: %s", (_name, unit) => {
    const output = unit.repeat(400 * KIB);
    const json = encodeEventData({ toolCallId: "t1", output, isError: false });
    const stored = JSON.parse(json) as Record<string, unknown>;
    expect(stored).toMatchObject({ toolCallId: "t1", isError: false, truncated: true });
    expect(output.toWellFormed().startsWith(stored["output"] as string)).toBe(true);
    expect(bytes(json)).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES);
    // At most one character less than the limit is used.
    expect(bytes(json)).toBeGreaterThan(MAX_EVENT_DATA_BYTES - 16);
  });

  test("event data over 256 KiB cuts the longest strings at any depth, and keeps the shorter ones", () => {
    const medium = "m".repeat(40 * KIB);
    const stored = JSON.parse(
      encodeEventData({ output: { stdout: "o".repeat(500 * KIB), stderr: "e".repeat(300 * KIB), log: medium, code: 0 } }),
    );
    expect(stored.output.log).toBe(medium);
    expect(stored.output.code).toBe(0);
    expect(stored.output.stdout).toHaveLength(stored.output.stderr.length);
    expect(stored.output.stdout.length).toBeGreaterThan(100 * KIB);
    expect(stored.truncated).toBe(true);
  });

  test("event data over 256 KiB replaces a huge array by the start of its JSON text, and keeps small fields", () => {
    const input = Array.from({ length: 200_000 }, (_, index) => index);
    const json = encodeEventData({ toolName: "sum", input, usage: { inputTokens: 1 } });
    const stored = JSON.parse(json);
    expect(stored).toMatchObject({ toolName: "sum", usage: { inputTokens: 1 }, truncated: true });
    expect(JSON.stringify(input).startsWith(stored.input)).toBe(true);
    expect(bytes(json)).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES);
  });

  test("event data over 256 KiB replaces data with too many fields by the start of its JSON text", () => {
    const data = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field${index}`, index]));
    const stored = JSON.parse(encodeEventData(data));
    expect(Object.keys(stored)).toEqual(["json", "truncated"]);
    expect(JSON.stringify(data).startsWith(stored.json)).toBe(true);
  });

  test("event data over 256 KiB takes at most 25 executed blocks of code for each of 49,900 fields", async () => {
    const { data = Number.NaN, value = Number.NaN } = await countBlocks(path.join(import.meta.dirname, "large-data-workloads.ts"));
    expect(Math.max(data, value) / FIELDS).toBeLessThanOrEqual(25);
  });

  test("event data over 256 KiB replaces data with a huge key by the start of its JSON text", () => {
    const json = encodeEventData({ ["k".repeat(600 * KIB)]: "v" });
    expect(JSON.parse(json)).toMatchObject({ truncated: true });
    expect(bytes(json)).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES);
  });

  test("event data over 256 KiB contains the field truncated only once", () => {
    const json = encodeEventData({ truncated: false, output: "x".repeat(300 * KIB) });
    expect(json.match(/"truncated"/g)).toHaveLength(1);
    expect(JSON.parse(json).truncated).toBe(true);
  });
});

test("event data that JSON cannot express is encoded in part", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  let deep: unknown = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(JSON.parse(encodeEventData({ toolName: "t", count: 5n, cycle, deep }))).toEqual({
    toolName: "t",
    count: "5",
    cycle: "[not serializable]",
    deep: "[not serializable]",
    truncated: true,
  });
});

test("any event data is encoded as valid JSON within the limit, and only unpaired surrogates change if it fits", () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 50 }),
    fc
      .tuple(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 6 }), fc.nat(300 * KIB))
      .map(([unit, count]) => unit.repeat(count / 2)),
  );
  const data = fc.dictionary(fc.string({ unit: anyCharacter }), fc.oneof(fc.jsonValue(), text, fc.array(text, { maxLength: 3 })), {
    maxKeys: 4,
  });
  fc.assert(
    fc.property(data, (value) => {
      const json = encodeEventData(value);
      const whole = JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f]../g, "$1\ufffd");
      expect(bytes(json)).toBeLessThanOrEqual(MAX_EVENT_DATA_BYTES);
      if (bytes(whole) <= MAX_EVENT_DATA_BYTES) expect(json).toBe(whole);
      else expect(JSON.parse(json)).toMatchObject({ truncated: true });
    }),
    { numRuns: 100 },
  );
});
