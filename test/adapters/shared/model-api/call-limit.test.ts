import { expect, test } from "vitest";
import { readBodyReset, readLimit } from "../../../../adapters/shared/model-api/call-limit.ts";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const resetOf = (headers: Record<string, string>, status = 429) => {
  const limit = readLimit(status, headers, NOW);
  return limit === null || limit.resetsAt === null ? limit?.resetsAt : (limit.resetsAt - NOW) / 1_000;
};

test.each<[Record<string, string>, number | null]>([
  [{ "retry-after": "60" }, 60],
  [{ "retry-after": "Sun, 29 Nov 2026 12:01:00 GMT" }, 60],
  [
    { "retry-after": "3600", "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-11-29T12:00:05Z" },
    3_600,
  ],
  [{ "anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "2026-11-29T12:00:30Z" }, 30],
  [{ "anthropic-ratelimit-requests-remaining": "7", "anthropic-ratelimit-requests-reset": "2026-11-29T12:00:30Z" }, null],
  [{ "anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": String(NOW / 1_000 + 7_200) }, 7_200],
  [{ "anthropic-ratelimit-unified-status": "allowed", "anthropic-ratelimit-unified-reset": String(NOW / 1_000 + 7_200) }, null],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" }, 360],
  [
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "1h2m3.5s",
    },
    3_723.5,
  ],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "88ms" }, 0.088],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "-5" }, null],
  [{ "retry-after": "99999999" }, null],
  [{ "retry-after": "Sun, 29 Nov 2020 12:01:00 GMT" }, null],
  [{}, null],
])("the headers %j name a reset in %s seconds", (headers, seconds) => {
  expect(resetOf(headers)).toBe(seconds);
});

test("only 429 and 529 are limits", () => {
  expect(resetOf({ "retry-after": "60" }, 529)).toBe(60);
  for (const status of [200, 400, 401, 500, 503]) expect(readLimit(status, { "retry-after": "60" }, NOW)).toBeNull();
});

const google = (...details: unknown[]) => ({ error: { code: 429, message: "Quota exceeded.", status: "RESOURCE_EXHAUSTED", details } });
const RETRY_INFO = { "@type": "type.googleapis.com/google.rpc.RetryInfo" };

test.each<[unknown, number | null]>([
  [google({ "@type": "type.googleapis.com/google.rpc.QuotaFailure" }, { ...RETRY_INFO, retryDelay: "34s" }), 34],
  [google({ ...RETRY_INFO, retryDelay: "7200.5s" }), 7_200.5],
  [{ error: { type: "usage_limit_reached", plan_type: "plus", resets_at: NOW / 1_000 + 3_600, resets_in_seconds: 3_600 } }, 3_600],
  [{ error: { type: "usage_limit_reached", resets_in_seconds: 90 } }, 90],
  [{ error: { type: "usage_limit_reached", resets_at: NOW / 1_000 - 5 } }, null],
  [google({ ...RETRY_INFO, retryDelay: "soon" }, null, "34s"), null],
  [{ error: { type: "rate_limit_error", message: "Try again in 2 hours." } }, null],
  [{ error: "busy" }, null],
  [[], null],
  [undefined, null],
])("the body %j names a reset in %s seconds", (body, seconds) => {
  const at = readBodyReset(body, NOW);
  expect(at === null ? null : (at - NOW) / 1_000).toBe(seconds);
});
