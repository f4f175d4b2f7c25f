import { expect, test } from "vitest";
import { activities, explainQueue, findActivity } from "../src/task-state.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();
const task = { state: "running", waitingOn: null, startedAt: ago(60), lastProgressAt: ago(1) } as const;

test("a task that waits does not look like one that works", () => {
  expect(findActivity(task, now)).toBe("running");
  expect(findActivity({ ...task, waitingOn: "approval" }, now)).toBe("approval");
  expect(findActivity({ ...task, waitingOn: "runtime" }, now)).toBe("silent");
  expect(findActivity({ ...task, lastProgressAt: ago(31) }, now)).toBe("silent");
  expect(findActivity({ ...task, lastProgressAt: null }, now)).toBe("silent");
  expect(findActivity({ ...task, state: "queued", waitingOn: "queue", startedAt: null, lastProgressAt: null }, now)).toBe("queued");
  expect(findActivity({ ...task, state: "failed" }, now)).toBe("failed");
});

test("every activity has its own sign and label, because color alone shows nothing to many people", () => {
  const all = Object.values(activities);
  expect(new Set(all.map(({ sign }) => sign)).size).toBe(all.length);
  expect(new Set(all.map(({ label }) => label)).size).toBe(all.length);
});

test("a queued task names the budgets that have no room for it", () => {
  const queued = { queuedBecause: "budget", waitingForBudgets: ["day", "nightly"] } as const;
  expect(explainQueue({ ...queued, waitingForBudgets: [...queued.waitingForBudgets] })).toBe(
    "waits, because a budget has no room for it: day, nightly",
  );
  expect(explainQueue({ queuedBecause: "slot", waitingForBudgets: [] })).toBe("waits for a free slot of the adapter");
  expect(explainQueue({ queuedBecause: null, waitingForBudgets: [] })).toBe("");
});
