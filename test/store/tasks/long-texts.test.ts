import { readFileSync } from "node:fs";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-sqlite.ts";
import type { Store } from "../../../src/store/store.ts";
import type { GappedJson, LongText } from "../../../src/store/tasks/gapped-json.ts";
import { cutGaps, fillGaps } from "../../../src/store/tasks/gapped-json.ts";
import type { Task } from "../../../src/task.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const DAY = 86_400_000;

async function open(clock = Date.now) {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  let store = openStore({ file, clock });
  onTestFinished(() => store.close());
  return {
    file,
    get store() {
      return store;
    },
    async reopen() {
      await store.close();
      store = openStore({ file, clock });
    },
  };
}

async function started(store: Store, taskId: string): Promise<Task> {
  await store.insertTaskIfAbsent(newTask({ taskId }));
  return (await store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] })) as Task;
}

const appendTexts = (store: Store, task: Task, ...texts: string[]) =>
  store.appendEventsIfRunning(
    task,
    texts.map((content) => ({ type: "assistant.text", data: JSON.stringify({ content }) })),
  );

/** Ends a task with one long text as its output. */
async function finish(store: Store, task: Task, output: string): Promise<LongText> {
  const [place] = (await store.keepLongTexts(task, [output])) as [LongText];
  const result = { ...newFinish().result, output: "<marker>" };
  const storedResult: GappedJson = cutGaps(JSON.stringify(result), new Map([["<marker>", place]]));
  await store.finishTaskIfRunning(task, newFinish({ result: { ...result, output }, storedResult }));
  return place;
}

/** Returns the number of turns of the event loop until the work is done. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let immediate = setImmediate(function count() {
    turns += 1;
    immediate = setImmediate(count);
  });
  await work();
  clearImmediate(immediate);
  return turns;
}

const outputOf = async (store: Store, taskId: string) => (await store.findTask("default", taskId))?.result?.output;

test.each([
  ["no marker", '{"a":"b"}', '{"a":"b"}', []],
  ["one", '{"a":"<1>"}', '{"a":""}', [6]],
  ["the same one twice", '["<1>","<1>"]', '["",""]', [2, 5]],
  ["several, in the order of the text", '["<2>",3,"<1>"]', '["",3,""]', [2, 7]],
])("stored markers are read as gaps, and gaps are stored as markers: %s", (_name, json, cut, places) => {
  const texts = new Map<string, LongText>([
    ["<1>", { kept: 1, chunks: 1 }],
    ["<2>", { kept: 2, chunks: 1 }],
  ]);
  const gapped = cutGaps(json, texts);
  expect([gapped.json, gapped.gaps.map(({ at }) => at)]).toEqual([cut, places]);
  expect(fillGaps(gapped, (text) => ("kept" in text ? `<${text.kept}>` : ""))).toBe(json);
});

test("a text is found in the last text events of its task only if they contain all of it", async () => {
  const { store } = await open();
  const task = await started(store, "t");
  await appendTexts(store, task, "before", "one ", "two");
  await store.appendEventsIfRunning(task, [{ type: "execution.progress", data: "{}" }]);
  await appendTexts(store, task, "", " three");
  const kept = await store.keepLongTexts(task, ["one two three", "two three", "e two three", "one two", "other"]);
  expect(kept.map((place) => ("events" in place ? place.events : "kept"))).toEqual([[3, 7], [4, 7], "kept", "kept", "kept"]);
});

test("a text between many other events is found and read a few rows at a time", async () => {
  const { store } = await open();
  const task = await started(store, "t");
  const half = "x".repeat(100_000);
  await appendTexts(store, task, half);
  const others = Array.from({ length: 50_000 }, () => ({ type: "execution.progress", data: "{}" }) as const);
  await store.appendEventsIfRunning(task, others);
  await appendTexts(store, task, half);
  expect(await turnsOf(() => finish(store, task, half + half))).toBeGreaterThan(100);
  expect(await turnsOf(() => outputOf(store, "t"))).toBeGreaterThan(100);
  expect(await outputOf(store, "t")).toBe(half + half);
});

test("a character that is split between two events is kept whole", async () => {
  const { store } = await open();
  const task = await started(store, "t");
  await appendTexts(store, task, "a\ud83d", "\ude00b");
  expect(await finish(store, task, "a😀b")).toHaveProperty("kept");
  expect(await outputOf(store, "t")).toBe("a😀b");
});

test("a result outlives the events that contain its text, and is deleted with its task", async () => {
  let now = 0;
  const opened = await open(() => now);
  const { store } = opened;
  const old = await started(store, "old");
  await appendTexts(store, old, "1", "2");
  const running = await started(store, "running");
  await appendTexts(store, running, "still here");
  await appendTexts(store, old, "3", "4");
  expect(await finish(store, old, "1234")).toEqual({ events: [2, 7] });
  now = 30 * DAY;
  while ((await store.prune(7 * DAY, 100)) > 0);
  // The running task retains the rest of the log, and so the older task.
  expect(await store.oldestEventNumber()).toBe(4);
  expect(await outputOf(store, "old")).toBe("1234");
  await opened.reopen();
  expect(await outputOf(opened.store, "old")).toBe("1234");

  await opened.store.finishTaskIfRunning(running, newFinish());
  now = 60 * DAY;
  while ((await opened.store.prune(7 * DAY, 100)) > 0);
  expect(await opened.store.findTask("default", "old")).toBeNull();
  await opened.store.close();
  const database = new SqliteDatabase(opened.file, { readonly: true });
  onTestFinished(() => void database.close());
  expect(database.prepare("SELECT count(*) AS count FROM text_chunk").get()).toEqual({ count: 0 });
});

test("a text that no result refers to is deleted at the next start", async () => {
  const opened = await open();
  const [lost, ended] = [await started(opened.store, "lost"), await started(opened.store, "ended")];
  await opened.store.keepLongTexts(lost, ["x".repeat(300_000)]);
  await finish(opened.store, ended, "y".repeat(300_000));
  await opened.reopen();
  expect(await outputOf(opened.store, "ended")).toBe("y".repeat(300_000));
  await opened.store.close();
  const database = new SqliteDatabase(opened.file, { readonly: true });
  onTestFinished(() => void database.close());
  expect(database.prepare("SELECT DISTINCT task FROM text_chunk").all()).toEqual([{ task: ended.seq }]);
});

test("a database of an older schema is readable, including long results and callback bodies", async () => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  const database = new SqliteDatabase(file);
  for (const name of ["001-core", "002-approvals", "003-turns-of-parents"])
    database.exec(readFileSync(new URL(`../../../migrations/${name}.sql`, import.meta.url), "utf8"));
  database.pragma("user_version = 3");
  const output = "x".repeat(300_000);
  const result = { ...newFinish().result, output };
  const { request } = newTask();
  database
    .prepare(
      `INSERT INTO task (seq, tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
       VALUES (1, 'default', 'old', 'agent', 'command', 'completed', ?, 'f', 1, 1, 1, ?)`,
    )
    .run(JSON.stringify(request), JSON.stringify(result));
  database
    .prepare(
      `INSERT INTO callback (task, tenant, url, origin, body, state, next_at, updated_at)
       VALUES (1, 'default', 'http://a.test/x', 'http://a.test', ?, 'pending', 1, 1)`,
    )
    .run(JSON.stringify(result));
  database.close();
  const store = openStore({ file });
  onTestFinished(() => store.close());
  expect((await store.findTask("default", "old"))?.result).toEqual(result);
  expect(await store.findStoredTask("default", "old")).toMatchObject({ task: { result }, readResult: null });
  expect((await store.listDueCallbacks({ tenant: "default", receiver: "http://a.test" }, 1))[0]?.body).toBe(JSON.stringify(result));
});

test("a text that is deleted while it is read causes an error, not a shorter text", async () => {
  let now = 0;
  const { store } = await open(() => now);
  const task = await started(store, "t");
  await appendTexts(store, task, "text");
  await finish(store, task, "text");
  const { readResult } = (await store.findStoredTask("default", "t")) as { readResult: () => AsyncIterable<string> };
  now = 30 * DAY;
  while ((await store.prune(7 * DAY, 100)) > 0);
  await expect(readText(readResult())).rejects.toThrow("A long text was deleted while it was read.");
});

test("tasks with long texts are pruned in slices of few bytes", async () => {
  let now = 0;
  const { store } = await open(() => now);
  for (let index = 0; index < 6; index += 1) await finish(store, await started(store, `t${index}`), `${index}`.repeat(6 * 1024 ** 2));
  now = 8 * DAY;
  const left = async () => (await store.listTasks({ tenant: "default" }, { before: null, limit: 10 })).length;
  const counts: number[] = [];
  while ((await store.prune(7 * DAY, 100)) > 0) counts.push(await left());
  expect(counts).toEqual([3, 0]);
});
