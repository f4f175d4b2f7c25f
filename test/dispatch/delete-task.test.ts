import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { createTaskDeletion, type TaskDeletionOptions } from "../../src/dispatch/delete-task.ts";
import type { DeletionOutcome } from "../../src/store/store.ts";
import type { TaskState } from "../../src/task.ts";

type DeletionStore = TaskDeletionOptions["store"];

/** A deletion over a store that is written down: `calls` has every write in order. */
function createBench({
  state = "completed",
  outcome = "deleted",
  releaseWaitMs = 60_000,
  purge = async () => 0,
}: {
  state?: TaskState;
  outcome?: DeletionOutcome;
  releaseWaitMs?: number;
  purge?: DeletionStore["purgeDeletedTasks"];
} = {}) {
  const calls: string[] = [];
  const unreleased = new Map<number, Promise<void>>();
  const log: string[] = [];
  const store: DeletionStore = {
    findTaskProgress: async (tenant, taskId) => {
      const identity = { seq: 1, tenant, taskId, parentTaskId: null, agentId: "a", provider: "p" };
      return { ...identity, state, createdAt: 0, startedAt: null, finishedAt: null };
    },
    findFamily: async () => [1, 2],
    async deleteTaskIfEnded(tenant, taskId) {
      calls.push(`delete ${tenant}/${taskId}`);
      return outcome;
    },
    async purgeDeletedTasks() {
      calls.push("purge");
      return await purge();
    },
  };
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line).msg) });
  return { calls, unreleased, log, remove: createTaskDeletion({ store, unreleased, logger, releaseWaitMs }) };
}

describe("the deletion of a task", () => {
  test("purges in slices until nothing is left", async () => {
    const left = [2, 1, 0];
    const bench = createBench({ purge: async () => left.shift() ?? 0 });
    await bench.remove("alpha", "t");
    expect(bench.calls).toEqual(["delete alpha/t", "purge", "purge", "purge"]);
  });

  test.each([
    ["absent", "not_found"],
    ["unfinished", "invalid_state"],
    ["child_unfinished", "invalid_state"],
    ["parent_unfinished", "invalid_state"],
    ["callback_pending", "invalid_state"],
  ] as const)("that the store answers with %s is refused as %s, and nothing is purged", async (outcome, code) => {
    const bench = createBench({ outcome });
    await expect(bench.remove("alpha", "t")).rejects.toMatchObject({ code });
    expect(bench.calls).toEqual(["delete alpha/t"]);
  });

  test("waits until the runtime of the task and those of its children are gone", async () => {
    const bench = createBench();
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.unreleased.set(
      2,
      promise.then(() => void bench.unreleased.delete(2)),
    );
    const removing = bench.remove("alpha", "t");
    await new Promise(setImmediate);
    expect(bench.calls).toEqual([]);
    resolve();
    await removing;
    expect(bench.calls[0]).toBe("delete alpha/t");
  });

  test("is refused when a runtime does not end in time", async () => {
    const bench = createBench({ releaseWaitMs: 10 });
    bench.unreleased.set(1, new Promise(() => {}));
    await expect(bench.remove("alpha", "t")).rejects.toMatchObject({ code: "invalid_state", message: expect.stringContaining("runtime") });
    expect(bench.calls).toEqual([]);
  });

  test("does not wait for a task that runs", async () => {
    const bench = createBench({ state: "running", outcome: "unfinished" });
    bench.unreleased.set(1, new Promise(() => {}));
    await expect(bench.remove("alpha", "t")).rejects.toMatchObject({
      code: "invalid_state",
      message: expect.stringContaining("Cancel it first"),
    });
  });

  test("has happened, although the rest of its rows cannot be removed yet", async () => {
    const bench = createBench({ purge: () => Promise.reject(new Error("disk")) });
    await bench.remove("alpha", "t");
    expect(bench.log).toEqual(["task deleted", "failed to remove rows of a deleted task"]);
  });
});
