import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areAlike, deduplicate, findAlike } from "../src/debate/deduplicate.ts";
import { measureOverlap } from "../src/debate/overlap.ts";
import { domainsOf, findExpert } from "../src/domains/find-expert.ts";
import { domains } from "../src/domains/index.ts";
import { estimateTimeoutSeconds, intensityMultipliers, measureScope, type Size } from "../src/estimate-timeout.ts";
import { createIds, prefixOf } from "../src/ids.ts";
import { modelFamilyOf, nameConnection, statusOf } from "../src/panel/panel-report.ts";
import { resolveProfile, taskTypeProperties } from "../src/profile.ts";
import { judge } from "../src/reports/verdict.ts";
import type { Intensity, Output, OutputType, Severity, TaskType, Verdict } from "../src/types.ts";

describe("the time limit of an answer", () => {
  test.each([
    [{ files: 4 }, 60],
    [{ files: 5 }, 180],
    [{ files: 20 }, 180],
    [{ files: 21 }, 300],
    [{ files: 49 }, 300],
    [{ files: 50 }, 600],
    [{ linesOfCode: 499 }, 60],
    [{ linesOfCode: 500 }, 180],
    [{ linesOfCode: 1_999 }, 180],
    [{ linesOfCode: 2_000 }, 300],
    [{ linesOfCode: 9_999 }, 300],
    [{ linesOfCode: 10_000 }, 600],
    // The larger base wins: a single file may be long, and many may be short.
    [{ files: 1, linesOfCode: 10_000 }, 600],
    [{ files: 50, linesOfCode: 1 }, 600],
    [{}, 180],
  ] satisfies [Size, number][])("the time limit of an answer of %j is %i s", (size, seconds) => {
    expect(estimateTimeoutSeconds(size, "standard")).toBe(seconds);
  });

  test.each([
    ["quick", 0.5],
    ["standard", 1],
    ["thorough", 1.5],
  ] satisfies [Intensity, number][])(
    "the time limit of an answer is multiplied by the intensity %s and by the runtime",
    (intensity, multiplier) => {
      expect(intensityMultipliers[intensity]).toBe(multiplier);
      expect(estimateTimeoutSeconds({ files: 10 }, intensity, 1.5)).toBe(180 * multiplier * 1.5);
    },
  );

  test.each([
    ["12 files", { files: 12 }],
    ["about 1,200 lines in 3 files", { files: 3, linesOfCode: 1200 }],
    ["3k LOC", { linesOfCode: 3000 }],
    ["2.5k lines of code", { linesOfCode: 2500 }],
    ["src/a.ts, src/b.ts and src/a.ts", { files: 2 }],
    ["the architecture of the payment system", {}],
  ] satisfies [string, Size][])("the time limit of an answer reads %j as %j", (scope, size) => {
    expect(measureScope(scope)).toEqual(size);
  });
});

test.each([
  ["review", "inspect", ["finding", "recommendation"], true],
  ["analysis", "inspect", ["finding", "observation"], true],
  ["planning", "inspect", ["plan-item"], false],
  ["implementation", "modify", ["implementation-note"], false],
  ["research", "inspect", ["observation", "recommendation"], false],
  ["audit", "inspect", ["finding", "compliance-gap"], true],
] satisfies [TaskType, string, OutputType[], boolean][])("%s is done with %s", (taskType, profile, types, hasVerdict) => {
  expect(taskTypeProperties[taskType]).toMatchObject({ profile, outputTypes: types, hasVerdict });
  expect(resolveProfile(taskType, "inspect")).toBe("inspect");
  expect(resolveProfile(taskType, "modify")).toBe(profile);
});

describe("the verdict", () => {
  const finding = (severity: Severity | null, type: OutputType = "finding") => ({ severity, type });
  const gap = (severity: Severity) => finding(severity, "compliance-gap");
  const reviewed: [Severity[], Verdict][] = [
    [[], "PASS"],
    [["CRITICAL"], "FAIL"],
    [["HIGH"], "CONCERNS"],
    [["HIGH", "HIGH", "HIGH"], "CONCERNS"],
    [["MEDIUM", "MEDIUM", "MEDIUM"], "CONCERNS"],
    [["MEDIUM", "MEDIUM"], "PASS"],
    [["LOW", "INFO", "LOW", "LOW"], "PASS"],
  ];
  test.each(reviewed)("the verdict of a review with %j is %s, and of an analysis too", (found, verdict) => {
    expect(
      judge(
        "review",
        found.map((severity) => finding(severity)),
      ),
    ).toBe(verdict);
    expect(
      judge(
        "analysis",
        found.map((severity) => finding(severity)),
      ),
    ).toBe(verdict);
  });

  test.each([
    [[finding("CRITICAL")], "FAIL"],
    [[gap("HIGH"), gap("HIGH")], "FAIL"],
    [[gap("HIGH")], "CONCERNS"],
    [[finding("HIGH"), finding("HIGH"), finding("HIGH")], "CONCERNS"],
    [[gap("MEDIUM"), gap("MEDIUM"), gap("MEDIUM")], "CONCERNS"],
    [[gap("MEDIUM")], "CONCERNS"],
    [[gap("LOW"), gap("INFO"), finding("MEDIUM")], "PASS"],
    [[], "PASS"],
  ] satisfies [ReturnType<typeof finding>[], Verdict][])("the verdict of an audit with %j is %s", (found, verdict) => {
    expect(judge("audit", found)).toBe(verdict);
  });

  test.each(["planning", "implementation", "research"] as const)("the verdict of %s is none", (taskType) => {
    expect(judge(taskType, [finding("CRITICAL")])).toBeNull();
  });
});

describe("a repeated finding", () => {
  const output = (id: string, changes: Partial<Output> = {}): Output => ({
    id,
    type: "finding",
    severity: "MEDIUM",
    status: "confirmed",
    title: "Tokens never expire",
    description: "A stolen token works for ever.",
    evidence: null,
    action: null,
    domain: "security",
    agent: "Expert",
    ...changes,
  });

  test.each([
    ["a b c d", "a b c d", 1],
    ["a b c d", "A, B; c! (d)", 1],
    ["a b c", "a b x y z", 2 / 3],
    ["a b", "c d", 0],
    ["", "a", 0],
    ["a", "a b c d e f", 1],
    ["größe zählt", "Größe zählt nicht", 1],
  ])("%j and %j share %d of the shorter one's words", (left, right, share) => {
    expect(measureOverlap(left, right)).toBeCloseTo(share);
    expect(measureOverlap(right, left)).toBeCloseTo(share);
  });

  test.each([
    [69, false],
    [70, false],
    [71, true],
    [75, true],
  ])("a repeated finding is alike if the texts share %i of 100 words: %s", (percent, isAlike) => {
    const text = (from: number) => ({ title: Array.from({ length: 100 }, (_, index) => `w${from + index}`).join(" "), description: "" });
    expect(areAlike(text(0), text(100 - percent))).toBe(isAlike);
    expect([...findAlike([text(0), text(100 - percent)]).values()].at(-1)).toHaveLength(isAlike ? 1 : 0);
  });

  test("exactly 70 % is not enough", () => {
    const words = "one two three four five six seven eight nine ten".split(" ");
    const of = (shared: number) => ({ title: [...words.slice(0, shared), ..."abcdefghij".slice(shared)].join(" "), description: "" });
    expect(areAlike(of(10), of(7))).toBe(false);
    expect(areAlike(of(10), of(8))).toBe(true);
    expect(findAlike([of(10), of(7)]).size).toBe(2);
    expect([...findAlike([of(10), of(7), of(8)]).values()].map((alike) => alike.length)).toEqual([0, 0, 2]);
  });

  test("a repeated finding is found equally by comparing all pairs and by counting common words", () => {
    const word = fc.constantFrom("one", "two", "three", "four", "five");
    const text = fc.array(word, { maxLength: 5 }).map((words) => ({ title: words.join(" "), description: "" }));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
        const compared = texts.map((right, index) => texts.slice(0, index).filter((left) => areAlike(left, right)));
        expect([...findAlike(texts).values()]).toEqual(compared);
      }),
    );
  });

  test("a repeated finding is kept once, with the highest severity, in its position, and the merge is reported", () => {
    const other = output("C002", { title: "No rate limit", description: "Logins can be guessed without end." });
    const { kept, merges } = deduplicate([output("C001"), other, output("C003", { severity: "HIGH" })]);
    expect(kept.map(({ id }) => id)).toEqual(["C002", "C003"]);
    expect(merges).toEqual([{ keptId: "C003", droppedId: "C001" }]);
  });

  test("a repeated finding is not merged with one of another domain", () => {
    expect(deduplicate([output("C001"), output("C002", { domain: "api" })]).merges).toEqual([]);
  });
});

test.each([
  ["claude", "C", "anthropic/claude"],
  ["gemini", "G", "google/gemini"],
  ["codex", "X", "openai/codex"],
  ["opencode", "O", "multi-provider"],
  ["vercel-ai", "V", "multi-provider"],
])("ids of %s start with %s", (bridge, prefix, family) => {
  expect(prefixOf(bridge)).toBe(prefix);
  expect(modelFamilyOf(bridge)).toBe(family);
  const nextId = createIds(prefix);
  expect([nextId(), nextId()]).toEqual([`${prefix}001`, `${prefix}002`]);
});

test.each([
  ["cancelled", "ABORTED"],
  ["authentication_required", "HALTED"],
  ["user_action_required", "HALTED"],
  ["adapter_offline", "SKIPPED"],
  ["timeout", "SKIPPED"],
  ["idle_timeout", "SKIPPED"],
  ["runtime_crashed", "SKIPPED"],
  ["spawn_failed", "SKIPPED"],
  ["output_invalid", "SKIPPED"],
  ["rate_limited", "SKIPPED"],
  ["model_error", "SKIPPED"],
  [undefined, "SKIPPED"],
])("a runtime that fails with %s causes the report status %s", (errorCode, status) => {
  expect(statusOf(errorCode)).toBe(status);
});

test.each([
  ["acp", "native-dispatch"],
  ["in-process", "native-dispatch"],
  ["native-dispatch", "native-dispatch"],
  ["cli", "cli"],
  ["api", "api"],
  ["http-api", "http-api"],
  ["mcp", "mcp"],
  [undefined, null],
])("the connection %s is reported as %s", (connection, word) => {
  expect(nameConnection(connection)).toBe(word);
});

describe("the registry", () => {
  test("the registry contains the 26 domains, each complete and once", () => {
    expect(domains.map(({ name }) => name)).toEqual(
      [
        ["security", "database", "api", "async-queue", "performance", "infrastructure", "cryptographic", "code-quality"],
        ["architecture", "testing", "error-handling", "concurrency", "types-typescript", "frontend", "data-integrity"],
        ["finance", "product", "strategy", "marketing", "operations", "compliance", "analytics"],
        ["ux-design", "visual-design", "content-writing", "brand-identity"],
      ].flat(),
    );
    for (const { trigger_signals, expert_role, focus_areas, standards } of domains) {
      expect(trigger_signals.every((signal) => signal === signal.toLowerCase() && signal !== "")).toBe(true);
      expect(Math.min(trigger_signals.length, focus_areas.length, standards.length)).toBeGreaterThan(0);
      expect(expert_role.prompt_template).toContain("{scope}");
    }
  });

  test.each([
    ["security", "exact", "Application Security Engineer", ["security"]],
    ["oauth", "exact", "Application Security Engineer", ["security"]],
    ["oauth flows", "adapted", "Application Security Engineer (Oauth Flows)", ["security"]],
    ["csrf", "exact", "Application Security Engineer", ["security"]],
    ["sql-injection", "virtual", "Sql Injection Specialist", ["security", "database"]],
    ["gdpr-consent", "adapted", "Compliance Officer (Gdpr Consent)", ["compliance"]],
    ["beekeeping", "virtual", "Beekeeping Specialist", []],
  ])("the registry finds for %s an expert that is %s", (name, tier, title, from) => {
    const expert = findExpert(name, domains);
    expect(expert).toMatchObject({ domain: name, tier, title, from });
    expect(Math.min(expert.focusAreas.length, expert.standards.length)).toBeGreaterThan(0);
  });

  test.each([
    ["Review the login endpoint: SQL injection and session tokens", ["security", "api", "database"]],
    ["rapid prototypes", []],
  ])("the registry finds the domains of %j", (text, names) => {
    expect(domainsOf(text, 3, domains).sort()).toEqual([...names].sort());
  });
});
