import { expect, test } from "vitest";
import { parseJsonLine } from "../../../../adapters/shared/process/parse-json-line.ts";

test.each(['{"a":1}', '  {"a":1}\r', '\uFEFF{"a":1}', '\x1b[0m\x1b[?25h{"a":1}\x1b[0m ', '\uFEFF \t{"a":1}'])(
  "%j is the object",
  (line) => {
    expect(parseJsonLine(line)).toEqual({ a: 1 });
  },
);

test.each(["", "{", "}", "text", 'log: {"a":1}', '{"a":1} done', '{"a":1}{"b":2}', "[1]", '"{}"', "\x1b[0m", '\x1b]0;title\x07{"a":1}'])(
  "%j is no object",
  (line) => {
    expect(parseJsonLine(line)).toBeNull();
  },
);

test("a line of megabytes without an object is no object", () => {
  for (const text of ["\x1b[0m", " ", "{", "} "]) expect(parseJsonLine(text.repeat(9_000_000 / text.length))).toBeNull();
  expect(parseJsonLine(`{}${" ".repeat(9_000_000)}x`)).toBeNull();
});

test("numbers keep their digits", () => {
  expect(JSON.stringify(parseJsonLine('{"id":653247040368672769}'))).toBe('{"id":653247040368672769}');
});
