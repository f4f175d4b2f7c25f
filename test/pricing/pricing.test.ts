import { expect, test, vi } from "vitest";
import type { NormalizedUsage } from "#contract";
import { createPricing } from "../../src/pricing/pricing.ts";

const logger = { error: vi.fn() };
const OWN = { a: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 2 }, b: { input: 10, output: 20 } };
const MILLION_IN: NormalizedUsage = { inputTokens: 1_000_000, outputTokens: 0 };
const AT = Date.parse("2026-11-01");

async function loadPricing(own: Parameters<typeof createPricing>[0] = null) {
  const pricing = createPricing(own, logger);
  await pricing.load();
  return pricing;
}

const call = (model: string, usage: NormalizedUsage, vendor?: string) =>
  ({ models: [model], vendor, usage, at: AT, isOneCall: true }) as const;

test.each<[string, string[], NormalizedUsage, number | null]>([
  ["the price of the reported model", ["a", "b"], MILLION_IN, 1],
  ["the price of the requested model", ["unknown", "b"], { inputTokens: 0, outputTokens: 1_000_000 }, 20],
  ["the price of the name without its vendor", ["local/b"], MILLION_IN, 10],
  [
    "with the cache at its own price",
    ["a"],
    { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 500_000, cacheWriteTokens: 250_000 },
    0.25 + 0.05 + 0.5,
  ],
  ["the cached tokens at the price of any input", ["b"], { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 1_000_000 }, 10],
  ["an unknown amount without a row", ["c"], { inputTokens: 1, outputTokens: 1 }, null],
  ["an unknown amount for a property name of every object", ["constructor", "toString"], { inputTokens: 1, outputTokens: 1 }, null],
])("a call at the operator's prices costs %s", (_, models, usage, costUsd) => {
  const price = createPricing(OWN, logger).priceOf({ models, vendor: undefined, usage, at: AT, isOneCall: true });
  if (costUsd === null) expect(price).toBeNull();
  else expect(price).toBeCloseTo(costUsd, 9);
});

test.each<[string, string | undefined, number | null]>([
  ["claude-sonnet-4-5", undefined, 0.018],
  ["claude-sonnet-4-5-20250929", "anthropic", 0.018],
  ["gpt-5.2", "openai", 0.01575],
  ["gemini-2.5-flash", "gcp.gemini", 0.0028],
  ["anthropic/claude-sonnet-4-5", undefined, 0.018],
  ["openrouter/anthropic/claude-sonnet-4.5", undefined, 0.018],
  ["anthropic/claude-sonnet-4.5", "openrouter", 0.018],
  // A model of another vendor behind an endpoint that implements the protocol of the usual one.
  ["gpt-5.2", "anthropic", 0.01575],
  // Models of unknown companies, and of programs that run models on the machine of their user.
  ["deepseek-r1:7b", undefined, null],
  ["gpt-oss:20b", "openai", null],
  ["ollama/deepseek-r1:7b", undefined, null],
  ["ollama/gpt-oss-20b", undefined, null],
  ["scripted/model", undefined, null],
  ["sonnet", "anthropic", null],
  ["", "anthropic", null],
])("the table knows the price of %j with the vendor %j: %j", async (model, vendor, costUsd) => {
  const pricing = await loadPricing();
  const price = pricing.priceOf(call(model, { inputTokens: 1000, outputTokens: 1000 }, vendor));
  if (costUsd === null) expect(price).toBeNull();
  else expect(price).toBeCloseTo(costUsd, 9);
  expect(pricing.knows(model, vendor)).toBe(costUsd !== null);
});

test("a price of the operator replaces that of the table", async () => {
  const pricing = await loadPricing({ "gpt-5.2": { input: 100, output: 100 } });
  expect(pricing.priceOf(call("gpt-5.2", MILLION_IN))).toBe(100);
  expect(pricing.priceOf(call("openai/gpt-5.2", MILLION_IN))).toBe(100);
});

test("the first name that has a price in the table counts", async () => {
  const pricing = await loadPricing();
  const usage = { inputTokens: 1000, outputTokens: 1000 };
  expect(pricing.priceOf({ ...call("", usage), models: [undefined, "unknown-9", "gpt-5.2", "claude-sonnet-4-5"] })).toBeCloseTo(0.01575);
});

test("a long call costs more per token, but a sum of calls does not", async () => {
  const pricing = await loadPricing();
  const long = call("claude-sonnet-4-5", MILLION_IN);
  expect(pricing.priceOf(long)).toBeCloseTo(6, 9);
  expect(pricing.priceOf({ ...long, isOneCall: false })).toBeCloseTo(3, 9);
  const cached = { inputTokens: 1_000_000, outputTokens: 1000, cacheReadTokens: 900_000, cacheWriteTokens: 50_000 };
  const sum = pricing.priceOf({ ...call("claude-sonnet-4-5", cached), isOneCall: false });
  expect(sum).toBeCloseTo(0.05 * 3 + 0.9 * 0.3 + 0.05 * 3.75 + 0.001 * 15, 9);
});

test("the price of a call is that of its date", async () => {
  const pricing = await loadPricing();
  const priceAt = (date: string) => pricing.priceOf({ ...call("o3", MILLION_IN), at: Date.parse(date) });
  expect(priceAt("2025-06-09")).toBeCloseTo(10, 9);
  expect(priceAt("2025-06-11")).toBeCloseTo(2, 9);
});

test("tokens that are kept in the cache for an hour cost more", async () => {
  const pricing = await loadPricing();
  const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheWriteTokens: 1_000_000 };
  const price = (changes: object) => pricing.priceOf({ ...call("claude-sonnet-4-5", { ...usage, ...changes }), isOneCall: false });
  expect(price({})).toBeCloseTo(3.75, 9);
  expect(price({ cacheWrite1hTokens: 1_000_000 })).toBeCloseTo(6, 9);
});

test("token counts that contradict each other have no price", async () => {
  const pricing = await loadPricing();
  expect(pricing.priceOf(call("claude-sonnet-4-5", { inputTokens: 10, outputTokens: 1, cacheReadTokens: 20 }))).toBeNull();
});

test("only the operator's prices are known before the table is loaded", () => {
  const pricing = createPricing(OWN, logger);
  expect(pricing.priceOf(call("claude-sonnet-4-5", MILLION_IN))).toBeNull();
  expect(pricing.priceOf(call("b", MILLION_IN))).toBe(10);
});
