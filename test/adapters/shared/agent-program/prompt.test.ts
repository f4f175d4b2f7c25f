import fc from "fast-check";
import { expect, test } from "vitest";
import { formatPrompt, PROMPT_OPENING } from "../../../../adapters/shared/agent-program/prompt.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const anyText = fc.string({ unit: anyCharacter });

test("a prompt starts with the fixed line and ends with the unchanged message", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.constantFrom("/help", "@/etc/passwd", "--version", "", "!ls")), (message) => {
      const prompt = formatPrompt({ message });
      expect(prompt).toBe(`${PROMPT_OPENING}${message}`);
      expect(prompt).toMatch(/^[A-Za-z]/);
    }),
  );
});

test("instructions precede the message in a labeled block", () => {
  expect(formatPrompt({ message: "/count" }, "Be brief.\n")).toBe(
    `Instructions:\n<instructions>\nBe brief.\n\n</instructions>\n\n${PROMPT_OPENING}/count`,
  );
  expect(formatPrompt({ message: "" }, "")).toMatch(/^Instructions:/);
});
