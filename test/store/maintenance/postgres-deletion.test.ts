import { describe, expect, test } from "vitest";
import type { CallbackSettlement } from "../../../src/store/posts/interface.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { accept, openWrites, type WritingNode } from "../../support/postgres/open-writes.ts";

const text = { type: "assistant.text", data: '{"content":"x"}' } as const;
const dead: CallbackSettlement = { state: "dead", nextInMs: null, lastStatus: 500, lastError: null, event: null };

async function endedTask(store: WritingNode, fields: Parameters<typeof accept>[1] = {}, callbackUrl?: string) {
  const task = await accept(store, fields);
  await store.finishTaskIfRunning(task, newFinish({}, callbackUrl));
  return task;
}

describe("a deletion", () => {
  test("a deletion of an unknown task, or one of another tenant, finds nothing", async () => {
    const { store } = await openWrites();
    await endedTask(store);
    expect(await store.deleteTaskIfEnded("default", "unknown")).toBe("absent");
    expect(await store.deleteTaskIfEnded("other", "task-1")).toBe("absent");
  });

  test("a deletion is rejected while the task, its parent or a child runs, or while a callback is pending", async () => {
    const { store } = await openWrites();
    const parent = await accept(store, { taskId: "parent" });
    const task = await accept(store, { parent });
    const child = await accept(store, { taskId: "child", parent: task });
    expect(await store.deleteTaskIfEnded("default", "task-1")).toBe("unfinished");
    await store.finishTaskIfRunning(task, newFinish());
    expect(await store.deleteTaskIfEnded("default", "task-1")).toBe("parent_unfinished");
    await store.finishTaskIfRunning(parent, newFinish());
    expect(await store.deleteTaskIfEnded("default", "parent")).toBe("child_unfinished");
    await store.finishTaskIfRunning(child, newFinish({}, "http://receiver.test/"));
    expect(await store.deleteTaskIfEnded("default", "parent")).toBe("callback_pending");
    await store.settleCallbackIfPending({ task: child, attempts: 0 }, dead);
    expect(await store.deleteTaskIfEnded("default", "parent")).toBe("deleted");
    expect(await store.deleteTaskIfEnded("default", "child")).toBe("absent");
  });

  test("a deletion removes all rows of the task and its children, and frees their ids", async () => {
    const { database, store } = await openWrites();
    const parent = await endedTask(store);
    const child = await endedTask(store, { taskId: "child", parent }, "http://receiver.test/");
    await store.settleCallbackIfPending({ task: child, attempts: 0 }, { ...dead, state: "delivered" });
    await endedTask(store, { taskId: "kept" });
    expect(await Promise.all([store, store].map((node) => node.deleteTaskIfEnded("default", "task-1")))).toEqual(["deleted", "absent"]);
    expect(await database.query("SELECT id FROM task")).toEqual([{ id: "kept" }]);
    for (const table of ["callback", "callback_dedup", "approval", "text_chunk"])
      expect(await database.query(`SELECT 1 FROM ${table}`)).toEqual([]);
    expect((await store.insertTaskIfAbsent({ ...parent, parent: null, needs: [] })).inserted).toBe(true);
  });

  test("a deletion that waits for a redelivery of another transaction finds the callback pending", async () => {
    const { store, hold } = await openWrites();
    const task = await endedTask(store, {}, "http://receiver.test/");
    await store.settleCallbackIfPending({ task, attempts: 0 }, dead);
    const held = await hold(`SELECT 1 FROM task WHERE seq = ${task.seq} FOR NO KEY UPDATE;
      UPDATE callback SET state = 'pending', next_at = 1 WHERE task = ${task.seq}`);
    const deleted = store.deleteTaskIfEnded("default", "task-1");
    await held.blocks();
    await held.commit();
    expect(await deleted).toBe("callback_pending");
  });

  test("a deletion removes many rows in slices, one node at a time, and uses no event number again", async () => {
    const { database, store, other, hold } = await openWrites();
    await endedTask(store, { taskId: "kept" });
    const task = await accept(store);
    await store.appendEventsIfRunning(
      task,
      Array.from({ length: 2_500 }, () => text),
    );
    await store.insertChunks(task, { text: 1, first: 1, chunks: ["a", "b"], bytes: 2 });
    await store.finishTaskIfRunning(task, newFinish({ storedResult: { json: "{}", gaps: [{ at: 1, text: { kept: 1, chunks: 2 } }] } }));
    const last = store.published.at(-1)?.number ?? 0;
    expect(await store.deleteTaskIfEnded("default", "task-1")).toBe("deleted");
    expect(await database.query("SELECT count(*) AS count FROM event")).toEqual([{ count: String(last - 1_000) }]);
    const held = await hold("SELECT pg_advisory_xact_lock(4713003)");
    expect(await other.purgeDeletedTasks()).toBe(0);
    expect(await other.prune(0, 100)).toBe(0);
    await held.commit();
    expect([await other.purgeDeletedTasks(), await other.purgeDeletedTasks(), await other.purgeDeletedTasks()]).toEqual([1_000, 505, 0]);
    expect(await database.query("SELECT tenant, id FROM task")).toEqual([{ tenant: "default", id: "kept" }]);
    expect(await database.query("SELECT 1 FROM text_chunk")).toEqual([]);
    await accept(store, { taskId: "next" });
    expect(store.published.at(-1)?.number).toBe(last + 1);
  });
});
