import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { createTaskDeletion, type TaskDeletionOptions } from "../../../src/dispatch/end/delete-task.ts";
import type { DeletionOutcome } from "../../../src/store/maintenance/interface.ts";
import type { TaskState } from "../../../src/task.ts";

type DeletionStore = TaskDeletionOptions["store"];

/** A deletion with a fake store. `calls` records its writes in order. */
function createFixture({
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
      return { ...identity, state, node: null, createdAt: 0, startedAt: null, finishedAt: null };
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

describe("deleting a task", () => {
  test("deleting a task purges its rows in slices until none is left", async () => {
    const left = [2, 1, 0];
    const fixture = createFixture({ purge: async () => left.shift() ?? 0 });
    await fixture.remove("alpha", "t");
    expect(fixture.calls).toEqual(["delete alpha/t", "purge", "purge", "purge"]);
  });

  test.each([
    ["absent", "not_found"],
    ["unfinished", "invalid_state"],
    ["child_unfinished", "invalid_state"],
    ["parent_unfinished", "invalid_state"],
    ["callback_pending", "invalid_state"],
  ] as const)("deleting a task is rejected when the store returns %s, with the code %s, and purges nothing", async (outcome, code) => {
    const fixture = createFixture({ outcome });
    await expect(fixture.remove("alpha", "t")).rejects.toMatchObject({ code });
    expect(fixture.calls).toEqual(["delete alpha/t"]);
  });

  test("deleting a task waits until the runtimes of the task and its children have ended", async () => {
    const fixture = createFixture();
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.unreleased.set(
      2,
      promise.then(() => void fixture.unreleased.delete(2)),
    );
    const removing = fixture.remove("alpha", "t");
    await new Promise(setImmediate);
    expect(fixture.calls).toEqual([]);
    resolve();
    await removing;
    expect(fixture.calls[0]).toBe("delete alpha/t");
  });

  test("deleting a task is rejected when a runtime does not end in time", async () => {
    const fixture = createFixture({ releaseWaitMs: 10 });
    fixture.unreleased.set(1, new Promise(() => {}));
    await expect(fixture.remove("alpha", "t")).rejects.toMatchObject({
      code: "invalid_state",
      message: expect.stringContaining("runtime"),
    });
    expect(fixture.calls).toEqual([]);
  });

  test("deleting a task does not wait for a running task", async () => {
    const fixture = createFixture({ state: "running", outcome: "unfinished" });
    fixture.unreleased.set(1, new Promise(() => {}));
    await expect(fixture.remove("alpha", "t")).rejects.toMatchObject({
      code: "invalid_state",
      message: expect.stringContaining("Cancel it first"),
    });
  });

  test("deleting a task succeeds although the rest of its rows cannot be removed yet", async () => {
    const fixture = createFixture({ purge: () => Promise.reject(new Error("disk")) });
    await fixture.remove("alpha", "t");
    expect(fixture.log).toEqual(["task deleted", "failed to remove rows of a deleted task"]);
  });
});
