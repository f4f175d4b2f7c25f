import { describe, expect, test } from "vitest";
import { readLimitReset } from "../../src/registry/limit-reset.ts";

const now = Date.parse("2026-03-10T10:00:00Z");
const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

describe("readLimitReset", () => {
  test.each([
    ["You've hit your limit · resets 3pm (UTC)", "2026-03-10T15:00:00.000Z"],
    ["You've hit your limit · resets 3:30pm (Europe/Zurich)", "2026-03-10T14:30:00.000Z"],
    ["You've hit your limit · resets 9am (America/New_York)", "2026-03-10T13:00:00.000Z"],
    ["5-hour limit reached ∙ resets 9am (UTC)", "2026-03-11T09:00:00.000Z"],
    ["You've hit your weekly limit · resets Mar 12 at 12am (UTC)", "2026-03-12T00:00:00.000Z"],
    ["Weekly limit reached ∙ resets Mar 12, 10pm (Asia/Kolkata)", "2026-03-12T16:30:00.000Z"],
    ["You've hit your usage limit. Try again at Mar 14th, 2026 3:51 PM (UTC).", "2026-03-14T15:51:00.000Z"],
    ["Claude AI usage limit reached|1773140400", "2026-03-10T11:00:00.000Z"],
    ["You've hit your usage limit. Please try again in 2 days 3 hours 5 minutes.", "2026-03-12T13:05:00.000Z"],
    ["You've hit your usage limit. Try again in 5h 12m.", "2026-03-10T15:12:00.000Z"],
    ["Rate limit reached for gpt-5. Please try again in 1m26.5s. Visit https://platform.example", "2026-03-10T10:01:26.500Z"],
    ["Please try again in 28ms.", "2026-03-10T10:00:00.028Z"],
    ["You exceeded your current quota. Please retry in 34.074824224s.", "2026-03-10T10:00:34.074Z"],
    ["You have exhausted your capacity on this model. Your quota will reset after 7h13m5s.", "2026-03-10T17:13:05.000Z"],
    ["The vendor reports the limit 60; it resets at 2026-03-10T10:02:00.000Z", "2026-03-10T10:02:00.000Z"],
    ["429 Too Many Requests, retry-after: 30", "2026-03-10T10:00:30.000Z"],
    ["Too many requests. Retry after 30 seconds.", "2026-03-10T10:00:30.000Z"],
  ])("%s: the limit ends at %s", (message, expected) => {
    expect(iso(readLimitReset(message, now))).toBe(expected);
  });

  test.each([
    "You've hit your usage limit. Try again later.",
    "429 Too Many Requests",
    "Limit of 40000 tokens reached in organization org-123",
    "resets 2020-01-01T00:00:00Z",
    "Your plan resets on the 31st",
    "try again in 900 days",
  ])("a message without a credible time has no end: %s", (message) => {
    expect(readLimitReset(message, now)).toBeNull();
  });

  test("only the beginning of a long message is read", () => {
    expect(readLimitReset(`resets ${"1".repeat(1_000_000)}`, now)).toBeNull();
    expect(readLimitReset(`${" ".repeat(1_000_000)}try again in 5 minutes`, now)).toBeNull();
  });

  test("a time without a zone is one of this machine", () => {
    const local = new Date(now);
    local.setHours(local.getHours() + 1, 0, 0, 0);
    const hour = local.getHours();
    const text = `resets ${hour % 12 === 0 ? 12 : hour % 12}${hour < 12 ? "am" : "pm"}`;
    expect(readLimitReset(text, now)).toBe(local.getTime());
  });
});
