import fc from "fast-check";
import { expect, test } from "vitest";
import { promptOf, promptOpening } from "../../../../adapters/shared/agent-program/prompt.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const anyText = fc.string({ unit: anyCharacter });

test("a message is never the begin of its prompt, and ends it as it is", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.constantFrom("/help", "@/etc/passwd", "--version", "", "!ls")), (message) => {
      const prompt = promptOf({ message });
      expect(prompt).toBe(`${promptOpening}${message}`);
      expect(prompt).toMatch(/^[A-Za-z]/);
    }),
  );
});

test("instructions stand in front in a block of their own", () => {
  expect(promptOf({ message: "/count" }, "Be brief.\n")).toBe(
    `Instructions:\n<instructions>\nBe brief.\n\n</instructions>\n\n${promptOpening}/count`,
  );
  expect(promptOf({ message: "" }, "")).toMatch(/^Instructions:/);
});
