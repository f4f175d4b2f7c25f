import { expect, test } from "vitest";
import { excerptOf } from "../../src/parts/excerpt.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

test.each([
  ["a short command", { command: "npm ci\nnpm test" }],
  ["no fields", {}],
  ["a short text", "ls"],
  ["nothing", null],
])("%s needs no excerpt", (_, input) => expect(excerptOf(input)).toBeNull());

test.each([
  ["many lines", { command: `${lines(80)}\ngit push --force\n\n` }, "command: line 1\n… 79 more lines …\ngit push --force"],
  ["two long lines", `${"a".repeat(300)}\n${"b".repeat(300)}`, `${"a".repeat(120)}…\n…${"b".repeat(120)}`],
  ["one long line", { command: `${"a".repeat(300)} && rm x` }, `command: ${"a".repeat(120)}…\n…${"a".repeat(112)} && rm x`],
  [
    "several fields",
    { command: `${lines(9)}`, description: "Builds it." },
    "command: line 1\n… 7 more lines …\nline 9\ndescription: Builds it.",
  ],
  [
    "many fields",
    { one: lines(9), two: "2", three: "3", four: "4", five: "5" },
    "one: line 1\n… 7 more lines …\nline 9\ntwo: 2\n… 2 more fields …\nfive: 5",
  ],
  ["hidden characters", `a\u202e\n${lines(9)}`, "a⟨U+202E⟩\n… 8 more lines …\nline 9"],
  ["an array", [lines(1).repeat(60)], `[\n… 1 more lines …\n]`],
])("the excerpt of an input with %s has its first and last line", (_, input, excerpt) => expect(excerptOf(input)).toBe(excerpt));
