import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { newFinish, newTask, storeConformance } from "../conformance/store.ts";
import { temporaryDirectory } from "../temporary-directory.ts";

storeConformance("sqlite", {
  async open(clock) {
    const options = { file: path.join(await temporaryDirectory(), "bridge.db"), ...(clock && { clock }) };
    let store = openStore(options);
    return {
      store,
      async reopen() {
        await store.close();
        store = openStore(options);
        return store;
      },
      close: () => store.close(),
    };
  },
});

const fileIn = async () => path.join(await temporaryDirectory(), "bridge.db");

test("a second process on the file is refused, until the first has let go", async () => {
  const file = await fileIn();
  const store = openStore({ file });
  const open = `import { openStore } from ${JSON.stringify(new URL("../../src/store/open-store.ts", import.meta.url).href)};
    await openStore({ file: ${JSON.stringify(file)} }).close();`;
  const second = promisify(execFile)(process.execPath, ["--input-type=module", "-e", open]);
  await expect(second).rejects.toThrow(/Another process owns the database/);
  await store.close();
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", open]);
});

test("a schema newer than the code is refused and left alone", async () => {
  const file = await fileIn();
  await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  database.pragma("user_version = 999");
  database.close();
  expect(() => openStore({ file })).toThrow(/schema version 999/);
  expect(new SqliteDatabase(file, { readonly: true }).pragma("user_version", { simple: true })).toBe(999);
});

test("commits are durable on every open: WAL and synchronous=FULL, also the second time", async () => {
  const file = await fileIn();
  for (let time = 0; time < 2; time += 1) {
    const store = openStore({ file });
    await store.insertTaskIfAbsent(newTask({ taskId: `t${time}` }));
    await store.close();
  }
  const database = new SqliteDatabase(file, { readonly: true });
  onTestFinished(() => void database.close());
  expect(database.pragma("journal_mode", { simple: true })).toBe("wal");
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(database.prepare("SELECT count(*) AS count FROM task").get()).toEqual({ count: 2 });
});

test("on a faulty disk a caller is refused at once, Bridge's own work waits and is done in order", async () => {
  const file = await fileIn();
  const faults: unknown[] = [];
  const store = openStore({ file, onFault: (error) => faults.push(error) });
  onTestFinished(() => store.close());
  await store.insertTaskIfAbsent(newTask());
  const task = await store.startNextTaskIfQueued("command", { childrenOnly: false });
  if (task === null) throw new Error("nothing was claimed");
  const { task: waiting } = await store.insertTaskIfAbsent(newTask({ taskId: "waiting" }));

  // A writer that holds the lock is, to the store, a disk that does not take writes.
  const blocker = new SqliteDatabase(file, { timeout: 0 });
  blocker.exec("BEGIN IMMEDIATE");
  const appended = store.appendEventsIfRunning(task, [{ type: "assistant.text", data: '{"content":"kept"}' }]);
  const finished = store.finishTaskIfRunning(task, newFinish());
  await expect(store.insertTaskIfAbsent(newTask({ taskId: "refused" }))).rejects.toMatchObject({ code: "storage_unavailable" });
  const cancelled = store.finishTaskIfQueued(waiting, newFinish({ state: "cancelled" }), { patient: false });
  await expect(cancelled).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(faults.length).toBeGreaterThan(0);
  blocker.exec("ROLLBACK");
  blocker.close();

  expect(await appended).toBe(true);
  expect(await finished).toMatchObject({ state: "completed" });
  const story = await store.readTaskEvents(task.seq, 0, 10, { callbacks: true });
  expect(story.map(({ number, type }) => [number, type])).toEqual([
    [1, "execution.started"],
    [2, "assistant.text"],
    [3, "execution.completed"],
  ]);
  expect(await store.findTask("default", "refused")).toBeNull();
}, 20_000);
