import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { createAttentionOperations } from "../../../src/store/attention/sqlite.ts";
import { openDriver, type SqliteDriver } from "../../../src/store/engines/sqlite/driver.ts";
import { openStore } from "../../../src/store/open-sqlite.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const query = { isAcknowledged: false, limit: 50, failedSince: 0, webhooks: ["oncall"] };
const migrations = new URL("../../../migrations/", import.meta.url);

test("the list reads each kind of fault by an index that separates what was acknowledged", async () => {
  const driver = openDriver(path.join(await temporaryDirectory(), "bridge.db"), { onFault() {} });
  onTestFinished(() => driver.close());
  const plans: string[] = [];
  const explained: SqliteDriver = {
    ...driver,
    all(sql, ...values) {
      plans.push(
        driver
          .all(`EXPLAIN QUERY PLAN ${sql}`, ...values)
          .map(({ detail }) => String(detail))
          .join("; "),
      );
      return driver.all(sql, ...values);
    },
  };
  const operations = createAttentionOperations(explained, Date.now);
  for (const isAcknowledged of [false, true]) await operations.readAttention("default", { ...query, isAcknowledged });
  const indexes = ["task_failed", "callback_dead", "webhook_delivery_dead"];
  for (const index of indexes) {
    const reads = plans.filter((plan) => plan.includes(index));
    expect(reads.length).toBeGreaterThan(1);
    expect(reads.filter((plan) => !plan.includes(`${index} (tenant=? AND <expr>=?`))).toEqual([]);
  }
  // Only receivers are sorted, of at most 1,000 counted rows.
  expect(plans.filter((plan) => plan.includes("TEMP B-TREE") && !plan.includes("CO-ROUTINE counted"))).toEqual([]);
});

/** Writes a database of the schema before a migration, as Bridge left it. */
async function writeDatabase(before: string, sql: string): Promise<string> {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  const database = new SqliteDatabase(file);
  const applied = readdirSync(migrations)
    .filter((name) => name.endsWith(".sql") && name < before)
    .sort();
  for (const name of applied) database.exec(readFileSync(new URL(name, migrations), "utf8"));
  database.pragma(`user_version = ${applied.length}`);
  database.exec(`
    INSERT INTO task (seq, tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result) VALUES
      (1, 'default', 'seen', 'a', 'p', 'failed', '{"message":"m"}', 'f', 1, 1, 5, '{"status":"error","durationMs":1}'),
      (2, 'default', 'unseen', 'a', 'p', 'failed', '{"message":"m"}', 'f', 1, 1, 6, '{"status":"error","durationMs":1}'),
      (3, 'default', 'summarized', 'a', 'p', 'failed', '{"message":"m"}', 'f', 1, 1, 7, '{"status":"error","durationMs":1}');
    INSERT INTO callback (task, tenant, url, origin, body, state, attempts, next_at, updated_at) VALUES
      (1, 'default', 'http://a.test/x', 'http://a.test', '{}', 'dead', 4, NULL, 8),
      (2, 'default', 'http://a.test/x', 'http://a.test', '{}', 'dead', 4, NULL, 9);
    INSERT INTO webhook_delivery (id, tenant, webhook, type, task, body, state, attempts, next_at, created_at, updated_at) VALUES
      ('msg_1', 'default', 'oncall', 'execution.failed', 1, '{}', 'dead', 4, NULL, 1, 10);
    INSERT INTO task_summary (task, title, error_code) VALUES (1, 'First', 'timeout'), (3, 'Third', 'timeout');
    ${sql}`);
  database.close();
  return file;
}

const namesOf = (items: readonly { kind: string; id: string }[]): string[] => items.map(({ kind, id }) => `${kind} ${id}`);

test("faults from before the list of what needs a person are listed, and can be acknowledged", async () => {
  const store = openStore({ file: await writeDatabase("019", "") });
  onTestFinished(() => store.close());
  const all = ["failure summarized", "failure unseen", "failure seen", "callback unseen", "callback seen", "delivery msg_1"];
  expect(namesOf((await store.readAttention("default", query)).items)).toEqual(all);
  for (const kind of ["failure", "callback", "delivery"] as const) await store.acknowledgeFaults({ tenant: "default", kind }, "ada", 100);
  expect((await store.readAttention("default", query)).items).toEqual([]);
  expect(namesOf((await store.readAttention("default", { ...query, isAcknowledged: true })).items)).toEqual(all);
});

test("acknowledgments of failures keep their person and time when they move to the rows of the tasks", async () => {
  const acknowledged = `UPDATE task_summary SET acknowledged_by = 'ada', acknowledged_at = 11 WHERE task = 3;
    INSERT INTO task_summary (task, acknowledged_by, acknowledged_at) VALUES (2, 'bob', 12);
    UPDATE callback SET acknowledged_attempts = 4, acknowledged_by = 'ada', acknowledged_at = 13 WHERE task = 1;`;
  const store = openStore({ file: await writeDatabase("020", acknowledged) });
  onTestFinished(() => store.close());
  expect(namesOf((await store.readAttention("default", query)).items)).toEqual(["failure seen", "callback unseen", "delivery msg_1"]);
  const { items } = await store.readAttention("default", { ...query, isAcknowledged: true });
  expect(items.map(({ id, title, acknowledgement }) => [id, title, acknowledgement])).toEqual([
    ["summarized", "Third", { by: "ada", at: 11 }],
    ["unseen", null, { by: "bob", at: 12 }],
    ["seen", "First", { by: "ada", at: 13 }],
  ]);
});
