import { readFileSync } from "node:fs";
import path from "node:path";
import { createSpending, recordPanel } from "bridge-council";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../test/support/temporary-directory.ts";
import { expert, inputOf } from "../hold-council.ts";
import { createRolePlayer, say } from "../role-player.ts";

async function record(
  availability: { found: boolean; path: string | null; connection: string | null; detail: string },
  skipReason?: string,
) {
  const workspace = await temporaryDirectory();
  const player = createRolePlayer({ [expert]: { outputs: [say("HIGH", "Tokens never expire")] } });
  const report = await recordPanel({
    workspace,
    models: [],
    availability,
    now: () => new Date("2026-11-21T19:39:05Z"),
    bridge: "codex",
    provider: "codex",
    input: inputOf({ intensity: "quick" }),
    profile: "inspect",
    execute: player.execute,
    resumesSessions: false,
    timeoutMultiplier: 1,
    secondsLeft: () => 3_600,
    spending: createSpending(100),
    onProgress: () => {},
    ...(skipReason === undefined ? {} : { skipReason }),
  });
  const lines = readFileSync(path.join(workspace, report.artifacts[0] ?? ""), "utf8")
    .trim()
    .split("\n");
  return { report, player, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test("the event log of a council starts with the program of its runtime and ends with its verdict", async () => {
  const { events } = await record({ found: true, path: "/usr/bin/codex", connection: "acp", detail: "healthy" });
  const timestamp = "2026-11-21T19:39:05.000Z";
  expect(events).toEqual([
    { event: "bridge_start", bridge: "codex", session_id: "council-1", timestamp },
    { event: "preflight", step: "availability_check", result: "found", path: "/usr/bin/codex", connection: "acp", detail: "healthy" },
    { event: "preflight", step: "timeout_estimate", value_seconds: 90 },
    { event: "dispatch", mode: "multi-agent", domains: ["security"] },
    { event: "output", id: "X001", severity: "HIGH", title: "Tokens never expire", domain: "security", round: 1 },
    { event: "bridge_complete", status: "COMPLETED", verdict: "CONCERNS", output_count: 1, timestamp },
  ]);
});

test("the event log of a skipped runtime contains no dispatch, and its report no agents", async () => {
  const { report, player, events } = await record({ found: false, path: null, connection: null, detail: "not loaded" }, "not loaded");
  expect(events.map(({ event, result, path }) => [event, result, path])).toEqual([
    ["bridge_start", undefined, undefined],
    ["preflight", "missing", null],
    ["bridge_complete", undefined, undefined],
  ]);
  expect(player.requests).toEqual([]);
  expect(report).toMatchObject({ status: "SKIPPED", agents_spawned: 0, connection_used: null, prompt_size_chars_r1: null });
});
