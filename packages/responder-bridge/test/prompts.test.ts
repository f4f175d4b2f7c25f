import { composeFixPrompt, composePrompt, FIX_INSTRUCTION } from "@hak2i/responder-bridge";
import { describe, expect, test } from "vitest";

const everything = {
  describe: "Every line\n  counts.\n",
  params: "strict: yes\r\n",
  materials: "=== a.md ===\n- one\n=== end of a.md ===",
};
const attempt = { draft: "# Draft\n\n```js\n$& $1\n```\n", logText: "line 3: {missing}\n\tagain\n" };

const userText = (messages: { role: string; content: string }[]): string => messages.find(({ role }) => role === "user")?.content ?? "";

describe.each([
  ["describe, params and materials", everything, ["# Description of the format", "# Parameters", "# Materials"]],
  ["no params", { ...everything, params: null }, ["# Description of the format", "# Materials"]],
  ["no materials", { ...everything, materials: "" }, ["# Description of the format", "# Parameters"]],
  ["describe only", { ...everything, params: null, materials: "" }, ["# Description of the format"]],
])("prompts of %s", (_, inputs, titles) => {
  const given = [inputs.describe, inputs.params ?? "", inputs.materials];

  test("the first prompt contains each text verbatim below its title", () => {
    const messages = composePrompt(inputs);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    for (const text of given) expect(userText(messages)).toContain(text);
    expect(userText(messages).match(/^# .+$/gm)).toEqual(titles);
  });

  test("a fix prompt contains all of it, the draft and the log verbatim, and the instruction", () => {
    const messages = composeFixPrompt(inputs, attempt);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    for (const text of [...given, attempt.draft, attempt.logText]) expect(userText(messages)).toContain(text);
    expect(userText(messages)).toContain("Fix to pass validator. Do not reduce enumeration.");
    expect(userText(messages).match(/^# [A-Z].+[a-z]$/gm)).toEqual([
      ...titles,
      "# Previous draft, which the validator refused",
      "# Draft",
      "# Log of the validator",
    ]);
  });
});

test("the instruction has the exact text of the specification", () => {
  expect(FIX_INSTRUCTION).toBe("Fix to pass validator. Do not reduce enumeration.");
});

test("prompts name no tool and no vendor", () => {
  const words = JSON.stringify([composePrompt(everything), composeFixPrompt(everything, attempt)]);
  expect(words).not.toMatch(/flowmark|openai|gpt|claude|gemini/i);
});

test("a fix prompt keeps blanks and line breaks around the draft and the log", () => {
  const [draft, logText] = ["\n  # Draft \n\n", "  line 3: missing\n "];
  expect(userText(composeFixPrompt(everything, { draft, logText }))).toContain(
    `refused\n\n${draft}\n\n# Log of the validator\n\n${logText}\n\nFix to pass validator.`,
  );
});
