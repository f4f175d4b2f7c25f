import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-sqlite.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const directory = new URL("../../../migrations/", import.meta.url);

test.each([
  ["that was never pruned", "(1, 1, 'execution.started', 1, '{}'), (2, 1, 'execution.completed', 1, '{}')", 2, 0],
  ["whose oldest tasks were pruned", "(8, 1, 'execution.started', 1, '{}'), (9, 1, 'execution.completed', 1, '{}')", 9, 7],
  ["whose tasks were all pruned", null, 9, 9],
])("the migration to deletions computes what retention has deleted from a database %s", async (_, events, last, pruned) => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  const database = new SqliteDatabase(file);
  const earlier = readdirSync(directory)
    .sort()
    .filter((name) => name < "007");
  for (const name of earlier) database.exec(readFileSync(new URL(name, directory), "utf8"));
  database.pragma(`user_version = ${earlier.length}`);
  database.exec(`
    UPDATE counter SET value = ${last} WHERE name = 'event';
    INSERT INTO task (seq, tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
      VALUES (1, 'default', 'old', 'agent', 'command', 'completed', '{}', 'f', 1, 1, 1, '{}');
    INSERT INTO callback (task, tenant, url, origin, body, state, next_at, updated_at)
      VALUES (1, 'default', 'http://a.test/x', 'http://a.test', '{}', 'pending', 1, 1);`);
  if (events !== null) database.exec(`INSERT INTO event (number, task, type, at, data) VALUES ${events}`);
  database.close();
  const store = openStore({ file });
  onTestFinished(() => store.close());
  expect([await store.prunedThrough(), store.lastEventNumber()]).toEqual([pruned, last]);
  // The callback may have been posted before the upgrade, so it keeps the id of the earlier version.
  const [due] = await store.listDueCallbacks({ tenant: "default", receiver: "http://a.test" }, 1);
  expect(due).not.toHaveProperty("messageId");
  expect(due?.body).toBe("{}");
});
