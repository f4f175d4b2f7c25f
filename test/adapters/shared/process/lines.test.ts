import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createLineSplitter } from "../../../../adapters/shared/process/lines.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const split = (chunks: readonly Uint8Array[], maxLineBytes = 1_000) => {
  const lines: [line: string, ended: boolean][] = [];
  const splitter = createLineSplitter(maxLineBytes, (line, ended) => lines.push([line, ended]));
  const withinLimit = chunks.map((chunk) => splitter.push(chunk));
  splitter.end();
  return { lines, withinLimit };
};
const bytes = (text: string) => Buffer.from(text);

describe("lines", () => {
  test.each([
    ["nothing", [], []],
    ["one line", ["a\n"], [["a", true]]],
    [
      "a last line without a newline",
      ["a\nb"],
      [
        ["a", true],
        ["b", false],
      ],
    ],
    [
      "empty lines",
      ["\n\n"],
      [
        ["", true],
        ["", true],
      ],
    ],
    [
      "a line in pieces",
      ["a", "", "b", "\nc\n"],
      [
        ["ab", true],
        ["c", true],
      ],
    ],
    ["a carriage return, which belongs to the line", ["a\r\n"], [["a\r", true]]],
  ] as [string, string[], [string, boolean][]][])("%s", (_name, chunks, expected) => {
    expect(split(chunks.map(bytes)).lines).toEqual(expected);
  });

  test("lines replaces bytes that are not UTF-8", () => {
    expect(split([Buffer.from([0x61, 0xff, 0x62, 0xc3, 0x0a])]).lines).toEqual([["a\ufffdb\ufffd", true]]);
  });

  test("lines are the same for any split of the bytes", () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 20 }), (parts, cuts) => {
        const whole = bytes(parts.join("\n"));
        const borders = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        const chunks = borders.slice(1).map((border, index) => whole.subarray(borders[index], border));
        const joined = split(chunks)
          .lines.map(([line, ended]) => line + (ended ? "\n" : ""))
          .join("");
        expect(joined).toBe(whole.toString("utf8"));
      }),
    );
  });

  test("lines are the same whether or not they fit the limit together", () => {
    const line = fc.string({ unit: anyCharacter, maxLength: 6 }).map((text) => text.replaceAll("\n", ""));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const whole = bytes(lines.map((text) => `${text}\n`).join(""));
        const longest = Math.max(0, ...lines.map((text) => bytes(text).length));
        expect(split([whole], longest).lines).toEqual(split([whole], 10_000).lines);
      }),
    );
  });

  test("lines within one chunk are decoded together, because decoding each one would take most of the time", () => {
    const chunk = Buffer.from("x\n".repeat(32_768));
    const lines: string[] = [];
    const splitter = createLineSplitter(1024 ** 2, (line) => lines.push(line));
    const decode = vi.spyOn(Buffer.prototype, "toString");
    onTestFinished(() => decode.mockRestore());
    splitter.push(chunk);
    // The first line can continue that of an earlier chunk, so it is decoded alone.
    expect(decode).toHaveBeenCalledTimes(2);
    expect(lines).toHaveLength(32_768);
  });

  test("lines accept a line of exactly the limit and reject one byte more", () => {
    expect(split([bytes("12345\n")], 5)).toEqual({ lines: [["12345", true]], withinLimit: [true] });
    expect(split([bytes("ok\n123"), bytes("456"), bytes("\nafter\n")], 5)).toEqual({
      lines: [["ok", true]],
      withinLimit: [true, false, false],
    });
  });

  test("lines over the limit are skipped if their listener accepts the beginning", () => {
    const lines: string[] = [];
    const beginnings: string[] = [];
    const splitter = createLineSplitter(5, (line) => lines.push(line), { onLongLine: (beginning) => beginnings.push(beginning) > 0 });
    for (const chunk of ["ok\n12345", "67", "89\nafter\n", "abcdefgh\nend\nlast-line"]) expect(splitter.push(bytes(chunk))).toBe(true);
    splitter.end();
    expect({ lines, beginnings }).toEqual({ lines: ["ok", "after", "end"], beginnings: ["1234567", "abcdefgh", "last-line"] });
  });

  test("lines over the limit pass on a beginning of at most 512 KiB, without a part of a character", () => {
    const beginnings: string[] = [];
    const splitter = createLineSplitter(1024 ** 2, () => {}, { onLongLine: (beginning) => beginnings.push(beginning) > 0 });
    splitter.push(bytes(`x${"ü".repeat(600_000)}`));
    expect(beginnings).toEqual([`x${"ü".repeat(256 * 1024 - 1)}`]);
  });

  test("lines with too many JSON values are over the limit, but not text with as many commas, and not long strings", () => {
    const passed: number[] = [];
    const beginnings: string[] = [];
    const splitter = createLineSplitter(1024 ** 2, (line) => passed.push(line.length), {
      onLongLine: (beginning) => beginnings.push(beginning.slice(0, 12)) > 0,
    });
    const object = (count: number): string => `{"values":[${"[0],".repeat(count)}0]}`;
    const text = `text ${object(90_000)}`;
    const string = JSON.stringify({ text: ",".repeat(300_000) });
    for (const line of [object(90_000), `\x1b[0m ${object(90_000)}`, object(20_000), text, string]) splitter.push(bytes(`${line}\n`));
    expect(beginnings).toEqual(['{"values":[[', '\x1b[0m {"value']);
    expect(passed).toEqual([object(20_000).length, text.length, string.length]);
  });
});
