import { readdirSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../../src/store/engines/postgres/migrate.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const tenant = "default";
const query = { isAcknowledged: false, limit: 50, failedSince: 0, webhooks: ["oncall"] };
const migrations = path.resolve(import.meta.dirname, "../../../migrations/postgres");

/** What a node of the previous release writes: it does not know the columns of acknowledgments. */
const faultsOf = (prefix: string): string => `
  WITH ended AS (
    INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
    VALUES ('default', '${prefix}-task', 'a', 'p', 'failed', '{}', 'f', 1, 1, 5, '{"status":"error","durationMs":1}') RETURNING seq),
  called AS (
    INSERT INTO callback (task, tenant, url, origin, body, state, attempts, next_at, updated_at)
    SELECT seq, 'default', 'http://a.test/x', 'http://a.test', '{}', 'dead', 4, NULL, 6 FROM ended)
  INSERT INTO webhook_delivery (id, tenant, webhook, type, task, body, state, attempts, next_at, created_at, updated_at)
  SELECT '${prefix}-delivery', 'default', 'oncall', 'execution.failed', seq, '{}', 'dead', 4, NULL, 1, 7 FROM ended`;

async function openStoreOf(database: TestDatabase): Promise<Store> {
  const { store } = await openNode({ url: database.urlAt(database.port), node: "n1" });
  onTestFinished(() => store.close());
  return store;
}

const list = async (store: Store, isAcknowledged = false): Promise<string[]> =>
  (await store.readAttention(tenant, { ...query, isAcknowledged })).items.map(({ kind, id }) => `${kind} ${id}`);

test.each(["011", "012", "013"])(
  "faults from before migration %s are listed, as are those of a node of the previous release that goes on writing",
  async (before) => {
    const directory = await temporaryDirectory();
    const names = readdirSync(migrations).filter((name) => name.endsWith(".sql") && name < before);
    for (const name of names) await cp(path.join(migrations, name), path.join(directory, name));
    const database = await createDatabase({ isEmpty: true });
    await migrate(database.urlAt(database.port), { directory: pathToFileURL(`${directory}/`) });
    await database.query(faultsOf("earlier"));
    await migrate(database.urlAt(database.port));
    await database.query(faultsOf("older-node"));
    const store = await openStoreOf(database);
    const all = ["failure older-node-task", "failure earlier-task"];
    const dead = ["callback older-node-task", "callback earlier-task", "delivery older-node-delivery", "delivery earlier-delivery"];
    expect((await list(store)).toSorted()).toEqual([...all, ...dead].toSorted());
    for (const kind of ["failure", "callback", "delivery"] as const)
      expect(await store.acknowledgeFaults({ tenant, kind }, "ada", 100)).toBe(2);
    expect(await list(store)).toEqual([]);

    // The older node redelivers a callback, which dies again: that is a new fault.
    await database.query(
      "UPDATE callback SET state = 'pending', next_at = 8 WHERE task = (SELECT seq FROM task WHERE id = 'earlier-task')",
    );
    expect(await list(store)).toEqual([]);
    await database.query("UPDATE callback SET state = 'dead', attempts = 5, next_at = NULL WHERE state = 'pending'");
    expect(await list(store)).toEqual(["callback earlier-task"]);
    expect(await list(store, true)).toHaveLength(5);
  },
);

test("an acknowledgment of a fault that is being written waits for it, and one of all faults reports that some are left", async () => {
  const database = await createDatabase();
  await database.query(faultsOf("busy"));
  const store = await openStoreOf(database);
  const writer = new Client(database.urlAt(database.port));
  await writer.connect();
  onTestFinished(() => writer.end());
  for (const [kind, id, lock] of [
    ["failure", "busy-task", "SELECT 1 FROM task FOR UPDATE"],
    ["callback", "busy-task", "SELECT 1 FROM callback FOR UPDATE"],
    ["delivery", "busy-delivery", "SELECT 1 FROM webhook_delivery FOR UPDATE"],
  ] as const) {
    await writer.query("BEGIN");
    await writer.query(lock);
    expect(await store.acknowledgeFaults({ tenant, kind }, "ada", 100)).toBe(0);
    expect(await store.isFault({ tenant, kind }, { isNew: true })).toBe(true);
    const acknowledged = store.acknowledgeFaults({ tenant, kind, id }, "ada", 100);
    await expect
      .poll(() => database.query("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
      .toHaveLength(1);
    await writer.query("COMMIT");
    expect(await acknowledged).toBe(1);
    expect(await store.isFault({ tenant, kind }, { isNew: true })).toBe(false);
    expect(await store.isFault({ tenant, kind })).toBe(true);
  }
});
