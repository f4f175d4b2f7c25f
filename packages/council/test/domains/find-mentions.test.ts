import fc from "fast-check";
import { expect, test } from "vitest";
import { cpuCost } from "../../../../test/support/cpu-time.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { countMentions } from "../../src/domains/find-mentions.ts";

const domainOf = (trigger_signals: string[]): Domain => ({
  name: "any",
  trigger_signals,
  expert_role: { title: "Any", lens: "", prompt_template: "" },
  focus_areas: [],
  standards: [],
});
const count = (text: string, ...lists: string[][]) => countMentions(text, lists.map(domainOf));

test.each([
  ["a signal at the start of a longer word", "Scalability matters", ["scalab"], 1],
  ["a signal inside a word", "An unscalable thing", ["scalab"], 0],
  ["a short signal that begins a longer word", "The author", ["auth"], 0],
  ["the plural of a short signal", "All APIs.", ["api"], 1],
  ["a phrase", "The REST API of it", ["rest api"], 1],
  ["a signal that begins with a symbol", "Port it to .NET 9", [".net"], 1],
  ["characters that a regular expression would interpret", "C++ (and a.b)", ["c++", "(and", "axb"], 2],
  ["a signal that another one begins with", "payments", ["pay", "payment", "payments"], 2],
  ["letters of other scripts", "Prüfe die Überweisung", ["überweis", "fe"], 1],
  ["one signal that occurs often", "cache cache cache", ["cache"], 1],
  ["an empty text", "", ["cache"], 0],
])("findMentions counts %s", (_, text, signals, expected) => {
  expect(count(text, signals)).toEqual([expected]);
});

test("findMentions counts for each domain, also signals that domains share", () => {
  expect(count("a lock and a queue", ["lock", "queue"], ["lock"], ["cache"], [])).toEqual([2, 1, 0, 0]);
});

test("findMentions counts the same signals as a search for each one", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "s", " ", ".", "é"), maxLength: 30 });
  const signal = letters.map((text) => text.slice(0, 6).trim()).filter((text) => text !== "");
  fc.assert(
    fc.property(letters, fc.array(signal, { maxLength: 5 }), (text, signals) => {
      const mentioned = [...new Set(signals)].filter((one) => {
        const end = one.length <= 4 ? "s?(?![\\p{L}\\p{N}])" : "";
        return new RegExp(`(?<![\\p{L}\\p{N}])${one.replaceAll(".", "\\.")}${end}`, "u").test(text);
      });
      expect(count(text, signals)).toEqual([mentioned.length]);
    }),
  );
});

test("findMentions takes little time for many signals that almost match everywhere", () => {
  const signals = Array.from({ length: 10_000 }, (_, index) => `${"a ".repeat(18)}${index.toString(36)}`);
  expect(cpuCost(() => count("a ".repeat(100_000), signals))).toBeLessThan(10);
});

test("findMentions reads a limited part of a long text, because signals can match almost everywhere", () => {
  expect(count(`${".".repeat(1_000_000)} oauth`, ["oauth"])).toEqual([0]);
  expect(count(`oauth ${".".repeat(1_000_000)}`, ["oauth"])).toEqual([1]);
});
