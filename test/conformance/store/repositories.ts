import { describe, expect, test } from "vitest";
import type { RepositoryOutcome } from "../../../src/contract/index.ts";
import type { NewTaskRepository } from "../../../src/store/repositories/interface.ts";
import { createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

const tenant = "default";
const newRepository = (taskId: string, fields: Partial<NewTaskRepository> = {}): NewTaskRepository => ({
  ...{ tenant, taskId, repository: "web", branch: "bridge/fix", baseCommit: "base", continuesBranch: false, ...fields },
});
const newOutcome = (fields: Partial<RepositoryOutcome> = {}): RepositoryOutcome => ({
  ...{ name: "web", branch: "bridge/fix", baseCommit: "base", headCommit: "head", commits: 2, files: 1, insertions: 3, deletions: 0 },
  ...{ pushed: false, conflicts: null, ...fields },
});

/** Checks the repositories of tasks and their branches in a storage engine. */
export function repositoryConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`repositories of tasks in the store: ${subject.name}`, () => {
    test("a branch belongs to the first of the tasks that ask for it at once, for each tenant and repository", async () => {
      const { store, reopen } = await open();
      const ids = ["a", "b", "c"];
      const holders = await Promise.all(ids.map((taskId) => store.insertTaskRepositoryIfFree(newRepository(taskId))));
      const first = ids.find((_, index) => holders[index] === null);
      expect(holders.filter((holder) => holder !== null)).toEqual([first, first]);
      expect(await store.insertTaskRepositoryIfFree(newRepository(String(first)))).toBeNull();
      expect(await store.insertTaskRepositoryIfFree(newRepository("d", { repository: "api" }))).toBeNull();
      expect(await store.insertTaskRepositoryIfFree(newRepository("d", { tenant: "other" }))).toBeNull();
      const again = await reopen();
      expect(await again.findBranchTask({ tenant, repository: "web", branch: "bridge/fix" })).toBe(first);
      expect(await again.findBranchTask({ tenant, repository: "web", branch: "bridge/other" })).toBeNull();
    });

    test("a branch is free again when its task could not be stored, or was not stored within a minute", async () => {
      let now = 1_000;
      const { store } = await open(() => now);
      await store.insertTaskRepositoryIfFree(newRepository("refused"));
      await store.deleteTaskRepositoryIfUnused(tenant, "refused");
      expect(await store.insertTaskRepositoryIfFree(newRepository("crashed"))).toBeNull();
      now += 60_000;
      expect(await store.insertTaskRepositoryIfFree(newRepository("next"))).toBe("crashed");
      const branch = { tenant, repository: "web", branch: "bridge/fix" };
      expect(await store.findBranchTask(branch)).toBe("crashed");
      now += 1;
      expect(await store.findBranchTask(branch)).toBeNull();
      expect(await store.insertTaskRepositoryIfFree(newRepository("next"))).toBeNull();
      await store.insertTaskIfAbsent(newTask({ taskId: "next" }));
      await store.deleteTaskRepositoryIfUnused(tenant, "next");
      now += 120_000;
      expect(await store.insertTaskRepositoryIfFree(newRepository("late"))).toBe("next");
    });

    test("a kept branch belongs to its task, and then to the task that continues it and keeps it", async () => {
      const { store } = await open();
      await store.insertTaskRepositoryIfFree(newRepository("first"));
      expect(await store.listBranches(tenant)).toEqual([]);
      await store.endTaskRepository(newRepository("first"), { outcome: newOutcome(), keepsBranch: true });
      expect(await store.listBranches(tenant)).toEqual([{ taskId: "first", repository: "web", branch: "bridge/fix", headCommit: "head" }]);
      expect(await store.insertTaskRepositoryIfFree(newRepository("other"))).toBe("first");
      expect(await store.insertTaskRepositoryIfFree(newRepository("discarded", { continuesBranch: true }))).toBeNull();
      await store.endTaskRepository(newRepository("discarded"), { outcome: newOutcome({ headCommit: "lost" }), keepsBranch: false });
      expect(await store.insertTaskRepositoryIfFree(newRepository("second", { continuesBranch: true }))).toBeNull();
      const end = { outcome: newOutcome({ baseCommit: "head", headCommit: "head2" }), keepsBranch: true };
      await store.endTaskRepository(newRepository("second"), end);
      await store.endTaskRepository(newRepository("second"), end);
      expect(await store.listBranches(tenant)).toEqual([
        { taskId: "second", repository: "web", branch: "bridge/fix", headCommit: "head2" },
      ]);
      expect(await store.listBranches("other")).toEqual([]);
      // It has begun at the same commit as the second task, and ends later.
      expect(await store.insertTaskRepositoryIfFree(newRepository("third", { continuesBranch: true }))).toBeNull();
      const late = { outcome: newOutcome({ baseCommit: "head", headCommit: "head3" }), keepsBranch: true };
      await store.endTaskRepository(newRepository("third"), late);
      await store.endTaskRepository(newRepository("third"), late);
      expect((await store.listBranches(tenant)).map(({ taskId }) => taskId)).toEqual(["second"]);
    });

    test("a branch is free when its task ends without keeping it, or without a commit", async () => {
      const { store } = await open();
      await store.insertTaskRepositoryIfFree(newRepository("diff"));
      await store.endTaskRepository(newRepository("diff"), { outcome: newOutcome(), keepsBranch: false });
      expect(await store.insertTaskRepositoryIfFree(newRepository("canceled"))).toBeNull();
      await store.endTaskRepository(newRepository("canceled"), { outcome: newOutcome({ headCommit: null }), keepsBranch: true });
      expect(await store.findBranchTask({ tenant, repository: "web", branch: "bridge/fix" })).toBeNull();
    });

    test("the status of a task has its repository, the base that was found later, and at the end what changed", async () => {
      const { store } = await open();
      await store.insertTaskRepositoryIfFree(newRepository("task", { baseCommit: null }));
      const { seq } = await started(store, { taskId: "task" });
      const other = await started(store, { taskId: "other" });
      const read = async () => (await store.readTaskStatuses([seq])).get(seq)?.repository;
      expect(await read()).toEqual({ name: "web", branch: "bridge/fix", baseCommit: null, outcome: null });
      await store.setBaseCommit(tenant, "task", "late");
      expect(await read()).toEqual({ name: "web", branch: "bridge/fix", baseCommit: "late", outcome: null });
      const outcome = newOutcome({ baseCommit: "late", pushError: "\u0000 \ud800 😀" });
      await store.endTaskRepository(newRepository("task"), { outcome, keepsBranch: false });
      expect(await read()).toMatchObject({ baseCommit: "late", outcome: { ...outcome, pushError: "\u0000 \ufffd 😀" } });
      expect((await store.readTaskStatuses([other.seq])).get(other.seq)?.repository).toBeNull();
    });

    test("the repository of a task is deleted with the task, on request and by retention", async () => {
      let now = 1_000;
      const { store } = await open(() => now);
      for (const taskId of ["deleted", "expired"]) {
        await store.insertTaskRepositoryIfFree(newRepository(taskId, { branch: taskId }));
        const task = await started(store, { taskId });
        await store.endTaskRepository(newRepository(taskId, { branch: taskId }), { outcome: newOutcome(), keepsBranch: true });
        await store.finishTaskIfRunning(task, newFinish());
      }
      await store.insertTaskRepositoryIfFree(newRepository("unused", { branch: "unused" }));
      expect(await store.deleteTaskIfEnded(tenant, "deleted")).toBe("deleted");
      expect((await store.listBranches(tenant)).map(({ taskId }) => taskId)).toEqual(["expired"]);
      now += 100_000;
      while ((await store.prune(1_000, 100)) > 0);
      expect(await store.listBranches(tenant)).toEqual([]);
      expect(await store.findBranchTask({ tenant, repository: "web", branch: "unused" })).toBeNull();
    });
  });
}
