import { describe, expect, test } from "vitest";
import { type ContextPacket, fitPacket, SUMMARIZED_NOTE } from "../../src/prompts/packet.ts";
import type { Output, Severity } from "../../src/types.ts";

const finding = (id: string, severity: Severity | null, length = 100): Output => ({
  id,
  type: "finding",
  severity,
  status: "confirmed",
  title: `Title of ${id}`,
  description: "d".repeat(length),
  evidence: "e".repeat(length),
  action: "a".repeat(length),
  domain: "security",
  agent: "Expert",
});
const base: Omit<ContextPacket, "previous_findings"> = {
  round: 2,
  active_domains: ["security"],
  newly_added_domains: [],
  open_challenges: [],
  conflicts: [],
  gaps: [],
  synthesis: "Round 1.",
};
const shorten = (findings: Output[], limit: number, packet = base) => {
  const fitted = fitPacket(packet, findings, limit);
  return { ...fitted, size: JSON.stringify(fitted.packet).length, found: fitted.packet.previous_findings };
};

describe("a packet", () => {
  test("a packet within the limit is complete, with its fields in the specified order and without a note", () => {
    const findings = [finding("X001", "HIGH"), finding("X002", "LOW")];
    const { packet, note } = shorten(findings, 32_000);
    expect(note).toBeNull();
    expect(packet.previous_findings).toEqual(findings);
    expect(Object.keys(packet).slice(0, 5)).toEqual([
      "round",
      "active_domains",
      "newly_added_domains",
      "previous_findings",
      "open_challenges",
    ]);
  });

  test("a packet loses the details first", () => {
    const { found, note, size } = shorten([finding("X001", "HIGH", 300), finding("X002", "LOW", 300)], 1_400);
    expect(found).toEqual([
      { id: "X001", title: "Title of X001", severity: "HIGH", description: "d".repeat(300) },
      { id: "X002", title: "Title of X002", severity: "LOW", description: "d".repeat(300) },
    ]);
    expect(note).toBe(SUMMARIZED_NOTE);
    expect(size).toBeLessThanOrEqual(1_400);
  });

  test("a packet then reduces MEDIUM and lower findings to one line each", () => {
    const { found, note } = shorten([finding("X001", "CRITICAL", 400), finding("X002", "MEDIUM", 400), finding("X003", null, 400)], 1_000);
    expect(found).toEqual([
      expect.objectContaining({ id: "X001", description: "d".repeat(400) }),
      "X002: Title of X002 (MEDIUM)",
      "X003: Title of X003 (no severity)",
    ]);
    expect(note).toBe(SUMMARIZED_NOTE);
  });

  test("a packet then removes these lines, and finally lists the oldest findings by id only, with a note of their number", () => {
    const many = Array.from({ length: 40 }, (_, index) => finding(`L${index}`, "LOW"));
    const { found, note } = shorten([finding("X001", "HIGH", 500), ...many, finding("X002", "HIGH", 500)], 1_200);
    expect(found).toEqual(["X001", expect.objectContaining({ id: "X002" })]);
    expect(note).toBe(`${SUMMARIZED_NOTE} 40 findings of MEDIUM or lower are left out. 1 findings are listed by their id only.`);
  });

  test("a packet cuts challenges only as a last step, with a note", () => {
    const open_challenges = Array.from({ length: 5 }, (_, index) => ({
      challenge_id: `CH00${index}`,
      target_finding_id: "X001",
      challenge_text: "c".repeat(5_000),
      directed_at_domain: "security",
    }));
    const { note, size, packet } = shorten([finding("X001", "HIGH")], 4_000, { ...base, open_challenges });
    expect(note).toContain("Texts of challenges are cut.");
    expect(size).toBeLessThanOrEqual(4_000);
    expect(packet.open_challenges).toHaveLength(5);
  });

  test("a packet of many large findings fits the limit of 32,000 characters", () => {
    const findings = Array.from({ length: 300 }, (_, index) => finding(`X${index}`, index % 2 === 0 ? "HIGH" : "LOW", 2_000));
    const { note, size } = shorten(findings, 32_000);
    expect(size).toBeLessThanOrEqual(32_000);
    expect(note).toMatch(/150 findings of MEDIUM or lower are left out\. \d+ findings are listed/);
  });
});
