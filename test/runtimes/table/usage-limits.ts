import { expect } from "vitest";
import type { Step } from "../model-server/scenarios.ts";
import type { CellBench } from "./cell-bench.ts";
import type { BenchRuntime } from "./runtimes.ts";

/** When the limits of these scenarios end. */
const RESET_SECONDS = 7_200;
/** The cooldown after a limit whose end is unknown. */
const UNKNOWN_SECONDS = 60;
/** Some programs name the end without its seconds, and a slow machine takes some of them. */
const TOLERANCE_SECONDS = 119;

/** Runtimes with which Bridge learns the end of a limit without the proxy. Bridge itself calls the models of the last two. */
const NAMING_RUNTIMES: readonly BenchRuntime[] = ["codex", "opencode", "openclaw", "vercel-ai", "gloo-ai"];

/** The responses by which the vendor of a runtime rejects calls for two hours, as the vendor sends them. */
export function usageLimits({ runtime, hasProxy }: CellBench): readonly Step[] {
  if (runtime === "gemini") return [googleQuota()];
  if (runtime === "opencode" || runtime === "openclaw" || runtime === "vercel-ai") return [openaiRate()];
  if (runtime === "gloo-ai") return [glooRate()];
  // Without the proxy, nothing but the time limit of the task ends the wait of Codex for the second one.
  if (runtime === "codex") return hasProxy ? [openaiPlan(), openaiRate()] : [openaiPlan()];
  return [anthropicRate()];
}

/** Expects that the adapter cools down until the end of the limit, or for a minute if its program does not name the end. */
export async function expectCooldown(bench: CellBench): Promise<void> {
  const namesEnd = bench.hasProxy || NAMING_RUNTIMES.includes(bench.runtime);
  const { cooldownUntil } = await bench.adapter();
  const seconds = (Date.parse(cooldownUntil ?? "") - Date.now()) / 1_000;
  const expected = namesEnd ? RESET_SECONDS : UNKNOWN_SECONDS;
  expect(seconds).toBeLessThanOrEqual(expected + 1);
  expect(seconds).toBeGreaterThan(namesEnd ? expected - TOLERANCE_SECONDS : 0);
}

const secondsSinceEpoch = (): number => Math.floor(Date.now() / 1_000);

function anthropicRate(): Step {
  const resetsAt = secondsSinceEpoch() + RESET_SECONDS;
  const message = "This request would exceed your account's rate limit. Please try again later.";
  return {
    error: 429,
    body: { type: "error", error: { type: "rate_limit_error", message }, request_id: "req_scripted" },
    headers: {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-representative-claim": "five_hour",
      "anthropic-ratelimit-unified-reset": String(resetsAt),
      "retry-after": String(RESET_SECONDS),
    },
  };
}

/** The limit of tokens of an API key. */
function openaiRate(): Step {
  const message = "Rate limit reached for this model on tokens per min (TPM): Limit 30000, Used 30000. Please try again in 2h0m0s.";
  return {
    error: 429,
    body: { error: { message, type: "tokens", param: null, code: "rate_limit_exceeded" } },
    headers: {
      "retry-after": String(RESET_SECONDS),
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "2h0m0s",
    },
  };
}

function glooRate(): Step {
  return {
    error: 429,
    body: { error: { code: 1029, name: "RATE_LIMIT_EXCEEDED", message: "Rate limit exceeded.", retryable: true } },
    headers: { "x-ratelimit-reset": String(secondsSinceEpoch() + RESET_SECONDS) },
  };
}

/** The usage limit of a plan. */
function openaiPlan(): Step {
  const resets = { resets_at: secondsSinceEpoch() + RESET_SECONDS, resets_in_seconds: RESET_SECONDS };
  return {
    error: 429,
    body: { error: { type: "usage_limit_reached", message: "The usage limit has been reached", plan_type: "plus", ...resets } },
    headers: {},
  };
}

function googleQuota(): Step {
  const type = (name: string) => ({ "@type": `type.googleapis.com/google.rpc.${name}` });
  const violation = { quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier", quotaValue: "20" };
  return {
    error: 429,
    body: {
      error: {
        code: 429,
        message: `You exceeded your current quota.\nPlease retry in ${RESET_SECONDS}.5s.`,
        status: "RESOURCE_EXHAUSTED",
        details: [
          { ...type("QuotaFailure"), violations: [violation] },
          { ...type("RetryInfo"), retryDelay: `${RESET_SECONDS}s` },
        ],
      },
    },
    headers: {},
  };
}
