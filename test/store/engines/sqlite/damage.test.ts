import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StartError } from "../../../../src/errors.ts";
import { openStore } from "../../../../src/store/open-sqlite.ts";
import type { Store } from "../../../../src/store/store.ts";
import { newFinish, newTask } from "../../../conformance/store/fixtures.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { damageMiddle, fillDatabase } from "./damaged-file.ts";

/** More than SQLite's page cache of 16 MB. */
const TASKS = 4000;

async function damagedFile(tasks = TASKS): Promise<string> {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  await openStore({ file }).close();
  fillDatabase(file, "default", tasks);
  damageMiddle(file);
  return file;
}

/** Reads tasks until one of them is in the damaged part. */
async function readUntilRefused(store: Store): Promise<{ refusal: unknown; seq: number }> {
  for (let task = 0; task < TASKS; task += 1) {
    const refusal = await store.findTask("default", `filler-${task}`).then(
      () => null,
      (error: unknown) => error,
    );
    if (refusal !== null) return { refusal, seq: task + 1 };
  }
  throw new Error("No read met the damage.");
}

test("a damaged database is rejected at the start with instructions to restore it", async () => {
  const file = await damagedFile(200);
  const open = () => openStore({ file });
  expect(open).toThrow(StartError);
  expect(open).toThrow(/is damaged: .+ Restore a backup: stop Bridge, run npx brg db restore <backup> --force, start Bridge\./s);
});

test("a database that is too large to be checked at the start is checked in the background", async () => {
  const file = await damagedFile(200);
  const faults: unknown[] = [];
  const store = openStore({ file, checkAtStartBytes: 0, onFault: (error) => faults.push(error) });
  onTestFinished(() => store.close());
  await store.checkPages();
  expect(faults).toHaveLength(1);
  await expect(store.checkWritable()).rejects.toMatchObject({ code: "storage_unavailable", message: expect.stringContaining("damaged") });
});

test("the background check finds no damage in a valid database, and ends when the store is closed", async () => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  const faults: unknown[] = [];
  const store = openStore({ file, checkAtStartBytes: 0, onFault: (error) => faults.push(error) });
  await store.checkPages();
  await store.checkWritable();
  const checking = store.checkPages();
  await store.close();
  await checking;
  expect(faults).toEqual([]);
});

test("after a read of a damaged page the store rejects new tasks, and Bridge's own writes continue", async () => {
  const file = await damagedFile();
  const faults: unknown[] = [];
  const store = openStore({ file, checkAtStartBytes: 0, onFault: (error) => faults.push(error) });
  onTestFinished(() => store.close());
  await store.insertTaskIfAbsent(newTask({ taskId: "before" }));
  const running = await store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] });
  if (running === null) throw new Error("nothing was claimed");

  const { refusal, seq } = await readUntilRefused(store);
  expect(refusal).toMatchObject({ code: "storage_unavailable", message: expect.stringContaining("damaged") });
  expect(faults).toHaveLength(1);
  await expect(store.checkWritable()).rejects.toMatchObject({ code: "storage_unavailable" });
  await expect(store.insertTaskIfAbsent(newTask({ taskId: "after" }))).rejects.toMatchObject({ code: "storage_unavailable" });
  // A write that needs a damaged page waits alone and does not delay the others.
  let isSettled = false;
  const onDamagedPage = store.finishTaskIfRunning({ ...running, seq }, newFinish()).finally(() => (isSettled = true));
  onDamagedPage.catch(() => {});
  expect(await store.finishTaskIfRunning(running, newFinish())).toMatchObject({ state: "completed" });
  expect(isSettled).toBe(false);
  await store.close();
  await expect(onDamagedPage).rejects.toMatchObject({ code: "storage_unavailable" });
});
