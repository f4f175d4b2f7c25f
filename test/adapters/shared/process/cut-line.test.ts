import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CUT_MARK, parseCutLine } from "../../../../adapters/shared/process/cut-line.ts";

describe("the beginning of a line", () => {
  test("the beginning of a line that ends in a string is completed", () => {
    expect(parseCutLine('{"type":"tool_result","ids":[1,2],"part":{"list":["a","long outp')).toEqual({
      type: "tool_result",
      ids: [1, 2],
      part: { list: ["a", `long outp${CUT_MARK}`] },
    });
  });

  test.each([
    ["an escape", '{"output":"line\\', "line"],
    ["a unicode escape", '{"output":"caf\\u00e', "caf"],
    ["the quote of an escape", '{"output":"line\\"', "line"],
    ["an escaped backslash", '{"output":"a\\\\', "a"],
  ])("the beginning of a line that ends in %s is completed before it", (_, beginning, output) => {
    expect(parseCutLine(beginning)).toEqual({ output: `${output}${CUT_MARK}` });
  });

  test.each([
    ["a number", '{"output":12'],
    ["a colon", '{"output":'],
    ["a whole object", '{"output":"x"}'],
    ["text that is not JSON", 'He said "no'],
    ["a list", '["a'],
    ["nothing", ""],
  ])("the beginning of a line that ends in %s is not completed", (_, beginning) => {
    expect(parseCutLine(beginning)).toBeNull();
  });

  test.each([
    ["a number of a list", '{"id":1,"output":[{"a":"x"},12', { id: 1, output: [{ a: "x" }, CUT_MARK] }],
    ["a name", '{"id":1,"output":{"a":[],"b', { id: 1, output: { a: [], "…": CUT_MARK } }],
    ["a colon", '{"id":1,"output":{"a":1,"b":', { id: 1, output: { a: 1, "…": CUT_MARK } }],
    ["a list after a comma", '{"id":1,"output":[[1,2],[[', { id: 1, output: [[1, 2], CUT_MARK] }],
  ])("the beginning of a line that ends in %s is completed at the last comma", (_, beginning, line) => {
    expect(parseCutLine(beginning)).toEqual(line);
  });

  test("the beginning of a line is completed wherever a string value is cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(), (output, cut) => {
        const line = JSON.stringify({ id: "1", nested: [{ output }] });
        const from = '{"id":"1","nested":[{"output":"'.length;
        const at = from + (cut % (line.length - from - '"}]}'.length + 1));
        const parsed = parseCutLine(line.slice(0, at)) as { nested: [{ output: string }] };
        const kept = parsed.nested[0].output.slice(0, -CUT_MARK.length);
        expect(output.toWellFormed().startsWith(kept.toWellFormed().replace(/\ufffd$/, ""))).toBe(true);
      }),
    );
  });
});
