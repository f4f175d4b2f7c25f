import { beforeEach, describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { createCooldowns } from "../../src/registry/cooldowns.ts";

describe("cooldowns", () => {
  let now = 0;
  let cooldowns: ReturnType<typeof createCooldowns>;
  const ended = (fields: Partial<ExecutionResult>): ExecutionResult => ({ status: "error", durationMs: 1, connection: "cli", ...fields });
  const limited = (error: string) => ended({ errorCode: "rate_limited", error });
  const untilOf = (provider: string) => cooldowns.find(provider)?.until ?? null;

  beforeEach(() => {
    now = Date.parse("2026-03-10T10:00:00Z");
    cooldowns = createCooldowns(() => now);
  });

  test("an adapter cools down until the reset that its message names", () => {
    cooldowns.noteEnd("codex", "t1", limited("Try again in 2 hours."));
    expect(cooldowns.find("codex")).toEqual({
      until: now + 7_200_000,
      reason: "A task failed with rate_limited. Its error names the time at which the limit ends.",
    });
    expect(untilOf("claude")).toBeNull();
    now += 7_200_000;
    expect(untilOf("codex")).toBeNull();
  });

  test("an adapter whose reset is unknown cools down for a minute, and twice as long after each further limit, up to half an hour", () => {
    const minutes = Array.from({ length: 7 }, () => {
      cooldowns.noteEnd("codex", "t1", limited("429"));
      const until = untilOf("codex") ?? 0;
      const waited = (until - now) / 60_000;
      now = until;
      return waited;
    });
    expect(minutes).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  test("a task that succeeds ends the cooldown, and its doubling", () => {
    cooldowns.noteEnd("codex", "t1", limited("429"));
    cooldowns.noteEnd("codex", "t2", ended({ status: "ok" }));
    expect(untilOf("codex")).toBeNull();
    cooldowns.noteEnd("codex", "t3", limited("429"));
    expect(untilOf("codex")).toBe(now + 60_000);
  });

  test("a limit that a task has seen counts only if the task ends for it", () => {
    cooldowns.noteLimit({ taskId: "t1", resetsAt: now + 5_000, reason: "The vendor answered 429." });
    cooldowns.noteLimit({ taskId: "t2", resetsAt: now + 9_000, reason: "The vendor answered 429." });
    cooldowns.noteEnd("claude", "t1", ended({ errorCode: "model_error", error: "400" }));
    expect(cooldowns.find("claude")).toBeNull();
    cooldowns.noteEnd("claude", "t2", limited("Try again later."));
    expect(cooldowns.find("claude")).toEqual({ until: now + 9_000, reason: "The vendor answered 429." });
    cooldowns.noteEnd("claude", "t1", limited("Try again later."));
    expect(untilOf("claude")).toBe(now + 120_000);
  });

  test("the message of the task counts if the vendor's response named no time", () => {
    cooldowns.noteLimit({ taskId: "t1", resetsAt: null, reason: "The vendor answered 429." });
    cooldowns.noteEnd("codex", "t1", limited("Try again in 2 hours."));
    expect(untilOf("codex")).toBe(now + 7_200_000);
  });
});
