import { parseExactJson } from "bridge-client";
import fc from "fast-check";
import { expect, test } from "vitest";

test("a parsed JSON text is written with the digits that it had", () => {
  const digits = fc.stringMatching(/^(?:0|[1-9]\d{0,20})$/);
  const fraction = fc.stringMatching(/^(?:\.\d{1,20})?$/);
  const exponent = fc.stringMatching(/^(?:[eE][+-]?\d{1,3})?$/);
  const number = fc.tuple(fc.constantFrom("", "-"), digits, fraction, exponent).map((parts) => parts.join(""));
  const text = fc.string({ unit: "binary" }).map((value) => JSON.stringify(value));
  const space = fc.stringMatching(/^[ \n\t]{0,3}$/);
  const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
    value: fc.oneof({ depthSize: "small" }, number, text, fc.constantFrom("null", "true"), tie("list"), tie("object")),
    list: fc.array(fc.tuple(space, tie("value")).map((parts) => parts.join(""))).map((values) => `[${values.join(",")}]`),
    object: fc
      .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,3}$/), space, space, tie("value")), { selector: ([name]) => name })
      .map((members) => `{${members.map(([name, before, after, member]) => `"${name}"${before}:${after}${member}`).join(",")}}`),
  }));
  fc.assert(
    fc.property(space, value, (before, json) => {
      expect(JSON.stringify(parseExactJson(before + json))).toBe(withoutSpace(json));
    }),
  );
});

/** Removes the white space between the tokens of a JSON text. */
const withoutSpace = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
