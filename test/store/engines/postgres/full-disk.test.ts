import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../../../support/bridge-program.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/create-database.ts";
import { startReceiver } from "../../../support/start-receiver.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { askUntil } from "../../../support/until.ts";

const tables = ["task", "event", "callback"];

/** From now on, each write fails as it does when the server cannot extend the file of a table. */
async function fillDisk({ query }: TestDatabase): Promise<void> {
  await query(`CREATE FUNCTION report_full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
  for (const table of tables)
    await query(`CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION report_full_disk()`);
}

const freeDisk = ({ query }: TestDatabase) => query("DROP FUNCTION report_full_disk CASCADE");

async function readFaults(bridge: BridgeProgram): Promise<number> {
  const text = await (await bridge.call("GET", "/metrics")).text();
  return Number(/^bridge_storage_faults_total (\d+)/m.exec(text)?.[1]);
}

test("while PostgreSQL reports a full disk, dispatches are rejected; with space again, tasks and callbacks are completed without a restart", async () => {
  const database = await createDatabase({ isEmpty: true });
  const dataDir = await temporaryDirectory();
  const { posts, origin, close } = await startReceiver();
  onTestFinished(close);
  const gate = path.join(dataDir, "gate");
  const bridge = await startBridgeProgram(dataDir, {
    ...shellCommand(`while [ ! -e ${gate} ]; do sleep 0.05; done; echo finished`),
    BRIDGE_DATABASE_URL: database.urlAt(database.port),
    BRIDGE_MAX_CONCURRENT: "2",
  });
  for (const taskId of ["running-1", "running-2", "queued"])
    expect((await dispatchTask(bridge, { taskId, agentId: taskId, message: "m", callbackUrl: `${origin}/${taskId}` })).status).toBe(202);
  await taskInState(bridge, "running-2", "running");

  await fillDisk(database);
  const rejected = await dispatchTask(bridge, { taskId: "rejected", agentId: "a", message: "m" });
  expect([rejected.status, await rejected.json()]).toMatchObject([503, { code: "storage_unavailable" }]);
  expect((await bridge.call("GET", "/healthz")).status).toBe(200);
  expect(await (await bridge.call("GET", "/api/v2/tasks/running-1")).json()).toMatchObject({ state: "running" });
  // The runtimes end while nothing can be stored.
  writeFileSync(gate, "");
  const before = await readFaults(bridge);
  await expect.poll(() => readFaults(bridge)).toBeGreaterThan(before);
  expect(posts).toEqual([]);

  await freeDisk(database);
  for (const taskId of ["running-1", "running-2", "queued"])
    expect(await taskInState(bridge, taskId, "completed")).toMatchObject({ result: { output: "finished\n" } });
  await expect.poll(() => posts.map((post) => post.path).toSorted()).toEqual(["/queued", "/running-1", "/running-2"]);
  await askUntil(
    () => bridge.call("GET", "/readyz"),
    ({ status }) => status === 200,
  );
  // The rejected task was not stored, and its id is free.
  expect((await dispatchTask(bridge, { taskId: "rejected", agentId: "a", message: "another" })).status).toBe(202);
  await taskInState(bridge, "rejected", "completed");
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
});
