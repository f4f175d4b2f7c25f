import { describe, expect, test } from "vitest";
import { findJsonObjects } from "../../src/prompts/find-json.ts";
import { readAnswer } from "../../src/prompts/read-answer.ts";

const answer = JSON.stringify({ outputs: [{ type: "finding", severity: "HIGH", title: "T", description: "D" }], confidence: "high" });

describe("readAnswer", () => {
  test.each([
    ["JSON without other text", answer],
    ["a fenced block", `Here it is:\n\`\`\`json\n${answer}\n\`\`\`\nDone.`],
    ["a fence without a language", `\`\`\`\n${answer}\n\`\`\``],
    ["prose", `I have looked at {everything} and say ${answer} and "no" more.`],
    ["the object after another one", `{"thinking": true} ${answer}`],
    ["the text after unclosed braces", `{{{ " ${answer}`],
    ["the last of two blocks", `\`\`\`json\n{"outputs": []}\n\`\`\`\n\`\`\`json\n${answer}\n\`\`\``],
  ])("readAnswer finds an answer in %s", (_where, text) => {
    expect(readAnswer(text, "review")).toMatchObject({ outputs: [{ severity: "HIGH", title: "T" }], confidence: "high" });
  });

  test.each([
    ["an empty text", ""],
    ["prose", "I found nothing that is wrong."],
    ["another object", '{"result": "fine"}'],
    ["an array", "[1, 2]"],
    ["a truncated answer", answer.slice(0, -3)],
    ["very deep nesting", '{"outputs":'.repeat(50_000)],
    ["nested lists", `{"outputs": ${"[".repeat(100_000)}`],
  ])("readAnswer finds no answer in %s", (_what, text) => {
    expect(readAnswer(text, "review")).toBeNull();
  });

  test("readAnswer tries only the first 500 opening braces", () => {
    const openings = '{"a":';
    expect([...findJsonObjects(openings.repeat(400_000))]).toEqual([]);
    expect([...findJsonObjects(`${openings.repeat(499)}{"found": true}`)]).toEqual([{ found: true }]);
    expect([...findJsonObjects(`${openings.repeat(500)}{"found": true}`)]).toEqual([]);
  });
});

describe("an output", () => {
  const read = (item: object, taskType: Parameters<typeof readAnswer>[1] = "review") =>
    readAnswer(JSON.stringify({ outputs: [item] }), taskType);

  test("an output keeps its fields", () => {
    const item = {
      id: "X001",
      type: "recommendation",
      severity: "low",
      status: "Revised",
      title: "T",
      description: "D",
      evidence: "E",
      action: "A",
    };
    expect(read(item)?.outputs).toEqual([
      {
        ref: "X001",
        type: "recommendation",
        severity: "LOW",
        decision: "revised",
        title: "T",
        description: "D",
        evidence: "E",
        action: "A",
      },
    ]);
  });

  test.each([
    ["an unknown type is the first one of the work", { type: "bug", severity: "LOW" }, "review", { type: "finding" }],
    ["a gap outside of an audit is a finding", { type: "compliance-gap", severity: "LOW" }, "review", { type: "finding" }],
    ["a gap in an audit is one", { type: "compliance-gap", severity: "LOW" }, "audit", { type: "compliance-gap" }],
    ["a step has no severity", { type: "plan-item", severity: "HIGH" }, "planning", { severity: null }],
    ["a note has no severity", { type: "implementation-note", severity: "HIGH" }, "implementation", { severity: null }],
    ["an observation may have none", { type: "observation" }, "research", { severity: null }],
    ["and may have one", { type: "observation", severity: "INFO" }, "research", { severity: "INFO" }],
    ["a finding without a severity weighs something all the same", { type: "finding", severity: "huge" }, "review", { severity: "MEDIUM" }],
    ["what was downgraded was revised", { status: "downgraded", severity: "LOW" }, "review", { decision: "revised" }],
  ] as const)("%s", (_rule, item, taskType, expected) => {
    expect(read({ title: "T", ...item }, taskType)?.outputs).toMatchObject([expected]);
  });

  test("an output uses its description as its title, and is omitted with a note without both", () => {
    expect(read({ severity: "LOW", description: "It leaks." })?.outputs).toMatchObject([{ title: "It leaks.", description: "It leaks." }]);
    expect(read({ severity: "LOW" })).toMatchObject({ outputs: [], notes: ["An output without a title and a description was left out."] });
  });

  test("an output about an earlier output needs no text", () => {
    expect(read({ id: "X001", status: "withdrawn", severity: "LOW" })?.outputs).toMatchObject([
      { ref: "X001", decision: "withdrawn", title: "" },
    ]);
  });

  test("an output contains no control or bidirectional characters, and is marked as cut", () => {
    const [output] =
      read({ severity: "LOW", title: "a\u0000b\u001bc\u202ed", description: "x".repeat(9_000), evidence: "\ud800" })?.outputs ?? [];
    expect(output).toMatchObject({ title: "a b c d", evidence: "\ufffd" });
    expect(output?.description).toBe(`${"x".repeat(8_000)} … [1000 characters cut]`);
  });

  test("an output is one of at most a hundred, and the number of omitted ones is noted", () => {
    const outputs = Array.from({ length: 130 }, (_, index) => ({ severity: "LOW", title: `T${index}` }));
    const read = readAnswer(JSON.stringify({ outputs }), "review");
    expect(read?.outputs).toHaveLength(100);
    expect(read?.notes).toEqual(["30 of 130 outputs were left out: the limit for one answer is 100."]);
  });
});

test("challenges and signals are parsed, and omitted without a target or a name", () => {
  const text = JSON.stringify({
    challenges: [
      { challenge_id: "", target_finding_id: "X001", challenge_text: "Why?" },
      { challenge_id: "CH001", target_finding_id: "X002", status: "withdrawn" },
      { target_finding_id: "X003" },
      { challenge_text: "Whom?" },
      "a text",
    ],
    cross_domain_signals: [
      { domain: "Security", reason: "tokens" },
      { domain: "a\nb", reason: "forged" },
      { reason: "nobody" },
      { domain: "api" },
    ],
  });
  expect(readAnswer(text, "review")).toMatchObject({
    challenges: [
      { ref: null, targetId: "X001", text: "Why?", decision: "raised" },
      { ref: "CH001", targetId: "X002", text: "", decision: "withdrawn" },
    ],
    signals: [
      { domain: "security", reason: "tokens" },
      { domain: "api", reason: "No reason was given." },
    ],
    notes: expect.arrayContaining(["A challenge without a target_finding_id or a challenge_text was left out."]),
  });
});
