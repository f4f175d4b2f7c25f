import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../../src/store/open-sqlite.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const directory = new URL("../../../../migrations/", import.meta.url);
const migrations = readdirSync(directory)
  .filter((name) => name.endsWith(".sql"))
  .sort();
const page = { before: null, limit: 10 };
const queue = { tenant: "default", receiver: "http://a.test" };

test.each(migrations.map((name) => [name] as const))(
  "a database of the schema of %s keeps its tasks, events and callbacks",
  async (name) => {
    const file = path.join(await temporaryDirectory(), "bridge.db");
    const database = new SqliteDatabase(file);
    const applied = migrations.slice(0, migrations.indexOf(name) + 1);
    for (const migration of applied) database.exec(readFileSync(new URL(migration, directory), "utf8"));
    database.pragma(`user_version = ${applied.length}`);
    // Only columns of the first schema.
    database.exec(`
    UPDATE counter SET value = 5 WHERE name = 'event';
    INSERT INTO task (seq, tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result) VALUES
      (1, 'default', 'posted', 'a', 'p', 'completed', '{"message":"m"}', 'f', 1, 1, 1, '{"status":"ok","durationMs":1}'),
      (2, 'default', 'dead', 'a', 'q', 'failed', '{"message":"m"}', 'f', 1, 1, 1, '{"status":"error","durationMs":1}'),
      (3, 'default', 'delivered', 'b', 'p', 'cancelled', '{"message":"m"}', 'f', 1, NULL, 1, '{"status":"error","durationMs":0}');
    INSERT INTO event (number, task, type, at, data) VALUES (1, 1, 'execution.started', 1, '{}'), (2, 1, 'execution.completed', 1, '{}'),
      (3, 2, 'execution.started', 1, '{}'), (4, 2, 'execution.failed', 1, '{}'), (5, 3, 'execution.failed', 1, '{}');
    INSERT INTO callback (task, tenant, url, origin, body, state, attempts, next_at, updated_at) VALUES
      (1, 'default', 'http://a.test/x', 'http://a.test', '{"status":"ok","durationMs":1,"end":0}', 'pending', 1, 1, 1),
      (2, 'default', 'http://a.test/x', 'http://a.test', '{"old":"body"}', 'dead', 4, NULL, 1),
      (3, 'default', 'http://a.test/x', 'http://a.test', NULL, 'delivered', 1, NULL, 1);
    INSERT INTO callback_dedup (task, at) VALUES (3, 1);`);
    database.close();

    const store = openStore({ file });
    onTestFinished(() => store.close());
    const listed = async (fields: object = {}) =>
      (await store.listTasks({ tenant: "default", ...fields }, page)).map(({ taskId }) => taskId);
    expect(await listed()).toEqual(["delivered", "dead", "posted"]);
    expect(await listed({ agentId: "a", provider: "p" })).toEqual(["posted"]);
    expect(await store.findTask("default", "dead")).toMatchObject({
      state: "failed",
      request: { message: "m" },
      result: { status: "error" },
    });
    expect((await store.readTaskEvents(1, 0, 10, "all")).map(({ number }) => number)).toEqual([1, 2]);
    expect(store.lastEventNumber()).toBe(5);
    const callbacks = async (state?: "pending" | "dead") =>
      (await store.listCallbacks("default", state, page)).map(({ task }) => task.taskId);
    expect([await callbacks(), await callbacks("pending"), await callbacks("dead")]).toEqual([
      ["delivered", "dead", "posted"],
      ["posted"],
      ["dead"],
    ]);
    // Attempts before and after the upgrade send the same bytes.
    await store.redeliverCallbackIfDead(2);
    const due = await store.listDueCallbacks(queue, 10);
    expect(due.map(({ task, body }) => [task.taskId, body])).toEqual([
      ["posted", '{"status":"ok","durationMs":1,"end":0}'],
      ["dead", '{"old":"body"}'],
    ]);
  },
);

test("after the upgrade, tasks that were already queued wait until their budgets have room", async () => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  const database = new SqliteDatabase(file);
  const applied = migrations.slice(0, migrations.indexOf("026-budget-needs.sql"));
  for (const migration of applied) database.exec(readFileSync(new URL(migration, directory), "utf8"));
  database.pragma(`user_version = ${applied.length}`);
  database.exec(`
    INSERT INTO task (seq, tenant, id, agent_id, provider, state, request, fingerprint, created_at) VALUES
      (1, 'default', 'large', 'a', 'p', 'queued', '{"message":"m"}', 'f', 1), (2, 'default', 'small', 'a', 'p', 'queued', '{"message":"m"}', 'f', 1);
    INSERT INTO task_budget (task, name, ask_micros, settled_micros) VALUES (1, 'b', 5, 0), (1, 'alone', NULL, 0), (2, 'b', 6, 3);
    INSERT INTO budget_period VALUES ('b', 0, ${Number.MAX_SAFE_INTEGER}, 6, 0, 0, 0, 0, 0, 0);`);
  database.close();

  const store = openStore({ file });
  onTestFinished(() => store.close());
  const limit = {
    name: "b",
    startsAt: 0,
    endsAt: Number.MAX_SAFE_INTEGER,
    maxMicros: 10,
    maxTokens: null,
    warnAt: [],
    tenant: null,
    provider: null,
  };
  store.useBudgets({ limitsAt: () => [limit], onReached() {}, onRoom() {} });
  const claim = async () =>
    (await store.startNextTaskIfQueued({ provider: "p", tenant: "default", kind: "dispatched", exceptAgents: [] }))?.taskId;
  expect([await claim(), await claim()]).toEqual(["small", undefined]);
  expect(await store.readBudgets([limit])).toMatchObject([{ spentMicros: 6, reservedMicros: 3 }]);
});
