import { readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, expect, test } from "vitest";
import { runCli } from "../../packages/bridge-cli/test/start-cli.ts";
import type { BackupManifest } from "../../src/store/maintenance/backup-file.ts";
import { type BridgeApp, startBridgeApp } from "../support/bridge-app.ts";
import { shellCommand, taskInState } from "../support/bridge-program.ts";
import { databaseOf, engine } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { askUntil } from "../support/until.ts";

const settings = { ...shellCommand("printf done"), BRIDGE_LEASE_SECONDS: "3", BRIDGE_NODE_GRACE_SECONDS: "0" };

/** Where a Bridge has its data. */
interface Place {
  dataDir: string;
  /** Runs `brg db …` for its database. */
  db(...args: string[]): ReturnType<typeof runCli>;
  query<Row extends object>(sql: string): Promise<Row[]>;
}

async function createPlace(): Promise<Place> {
  const dataDir = await temporaryDirectory();
  const database = await databaseOf(dataDir);
  const env = { BRIDGE_DATA_DIR: dataDir, ...database.settings };
  return { dataDir, db: (...args) => runCli(["db", ...args], { env }), query: (sql) => database.query(sql) };
}

const start = (place: Place) => startBridgeApp(place.dataDir, settings);

async function runTask(bridge: BridgeApp, taskId: string): Promise<void> {
  const answer = await bridge.call("POST", "/api/v2/dispatch", { taskId, agentId: "a", message: "m" }, { prefer: "wait=20" });
  expect(await answer.json()).toMatchObject({ state: "completed" });
}

async function lastEventId(bridge: BridgeApp, taskId: string): Promise<string> {
  const events = (await (await bridge.call("GET", `/api/v2/tasks/${taskId}/events`)).json()) as { data: { id: string }[] };
  return events.data.at(-1)?.id ?? "";
}

async function firstEventAfter(bridge: BridgeApp, id: string): Promise<string> {
  const stream = await bridge.call("GET", "/api/events", undefined, { "last-event-id": id });
  let text = "";
  for await (const chunk of (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, type] = /\nevent: (.+)\n/.exec(text) ?? [];
    if (type !== undefined) return type;
  }
  throw new Error("The stream has ended.");
}

/** On PostgreSQL, the lease of a node that was stopped gracefully is over at once, and that of another one after three seconds. */
const restored = (place: Place, ...args: string[]) =>
  askUntil(
    () => place.db("restore", ...args),
    ({ stderr }) => !stderr.includes("wait until their leases are over"),
  );

let directory: string;
let backup: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  backup = path.join(directory, "bridge.backup");
});

test("a backup under load, restored on an empty machine, serves the same tasks with a new epoch and stream.gap for old ids", async () => {
  const original = await createPlace();
  const first = await start(original);
  await runTask(first, "before");
  let isLoaded = true;
  const accepted: string[] = [];
  const load = [0, 1, 2].map(async (client) => {
    for (let number = 0; isLoaded; number += 1) {
      const taskId = `load-${client}-${number}`;
      const answer = await first.call("POST", "/api/v2/dispatch", { taskId, agentId: `a${client}`, message: "m" }, { prefer: "wait=20" });
      expect(answer.ok).toBe(true);
      accepted.push(taskId);
    }
  });
  await expect.poll(() => accepted.length).toBeGreaterThan(10);
  const acceptedBefore = [...accepted];
  const made = await original.db("backup", backup, "--json");
  isLoaded = false;
  await Promise.all(load);
  expect(made).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("workspaces") });
  const manifest = JSON.parse(made.stdout) as BackupManifest & { file: string };
  expect(manifest).toMatchObject({ file: backup, engine, epoch: expect.stringMatching(/^[0-9a-f]{10}$/) });
  expect(manifest.counts.tasks).toBeGreaterThan(acceptedBefore.length);
  expect(JSON.parse(await readFile(`${backup}.json`, "utf8"))).toMatchObject({ sha256: manifest.sha256 });
  for (const file of [backup, `${backup}.json`]) expect((await stat(file)).mode & 0o777).toBe(0o600);

  await runTask(first, "after");
  const oldIds = [await lastEventId(first, "before"), await lastEventId(first, "after")];
  await first.close();

  const empty = await createPlace();
  const result = await empty.db("restore", backup, "--json");
  expect(result).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("workspaces") });
  const { epoch } = JSON.parse(result.stdout) as { epoch: string };
  expect(epoch).not.toBe(manifest.epoch);
  const second = await start(empty);
  expect(await taskInState(second, "before", "completed")).toMatchObject({ result: { output: "done" } });
  for (const taskId of acceptedBefore) expect((await second.call("GET", `/api/v2/tasks/${taskId}`)).status).toBe(200);
  expect((await second.call("GET", "/api/v2/tasks/after")).status).toBe(404);
  // Tasks that were running in the backup end, and queued ones run or, on PostgreSQL, wait for the node that has the files of their agent.
  await expect
    .poll(async () => (await second.call("GET", "/api/v2/tasks?state=running")).json(), { timeout: 20_000 })
    .toMatchObject({ data: [] });
  const answer = await second.call("POST", "/api/v2/dispatch", { taskId: "new", agentId: "b", message: "m" }, { prefer: "wait=20" });
  expect(await answer.json()).toMatchObject({ state: "completed" });
  expect(await lastEventId(second, "new")).toMatch(new RegExp(`^${epoch}-`));
  for (const id of oldIds) expect(await firstEventAfter(second, id)).toBe("stream.gap");
  await second.close();
  expect(await empty.db("check")).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/result\tok$/) });
});

test("restore refuses a running Bridge and a database with tasks, and replaces it with --force", async () => {
  const place = await createPlace();
  const bridge = await start(place);
  await runTask(bridge, "kept");
  expect(await place.db("backup", backup)).toMatchObject({ exitCode: 0 });
  await runTask(bridge, "later");
  expect(await place.db("restore", backup, "--force")).toMatchObject({
    exitCode: 6,
    stderr: expect.stringMatching(
      engine === "sqlite" ? /Another process owns the database.*Stop Bridge, and repeat the command\./ : /while nodes are running/,
    ),
  });
  await bridge.close();
  expect(await restored(place, backup)).toMatchObject({ exitCode: 6, stderr: expect.stringMatching(/contains 2 tasks\..*--force/s) });
  expect(await place.query("SELECT id FROM task ORDER BY seq")).toEqual([{ id: "kept" }, { id: "later" }]);
  expect(await place.db("restore", backup, "--force")).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^replacedTasks\t2$/m) });
  expect(await place.query("SELECT id FROM task ORDER BY seq")).toEqual([{ id: "kept" }]);
});

test("restore verifies the backup, and leaves the database as it was if the backup is not valid", async () => {
  const place = await createPlace();
  const bridge = await start(place);
  await runTask(bridge, "kept");
  await bridge.close();
  expect(await place.db("backup", backup)).toMatchObject({ exitCode: 0 });
  await place.query("UPDATE task SET agent_id = 'changed'");
  const manifest = JSON.parse(await readFile(`${backup}.json`, "utf8")) as BackupManifest;
  const restoreWith = async (change: Partial<BackupManifest>) => {
    await writeFile(`${backup}.json`, JSON.stringify({ ...manifest, ...change }));
    return restored(place, backup, "--force");
  };
  const expectRefusal = async (result: Awaited<ReturnType<typeof runCli>>, exitCode: number, reason: RegExp) => {
    expect(result).toMatchObject({ exitCode, stderr: expect.stringMatching(reason) });
    expect(await place.query("SELECT agent_id FROM task")).toEqual([{ agent_id: "changed" }]);
  };
  await expectRefusal(await restoreWith({ sha256: "0".repeat(64) }), 1, /is damaged: its size or its SHA-256 differs/);
  // Found after the tables were restored.
  await expectRefusal(await restoreWith({ counts: { ...manifest.counts, events: 1 } }), 1, /other numbers of rows than its manifest/);
  await expectRefusal(await restoreWith({ engine: engine === "sqlite" ? "postgres" : "sqlite" }), 6, /was made from/);
  await rm(`${backup}.json`);
  await expectRefusal(await place.db("restore", backup, "--force"), 1, /manifest .* cannot be read .ENOENT.*copy both files/);
  await expectRefusal(await place.db("restore", path.join(directory, "none"), "--force"), 1, /cannot be read/);
});

test("backup does not replace a file, and leaves none if it fails", async () => {
  const place = await createPlace();
  await writeFile(backup, "mine");
  expect(await place.db("backup", backup)).toMatchObject({ exitCode: 6, stderr: expect.stringContaining("exists") });
  expect(await readFile(backup, "utf8")).toBe("mine");
  const other = path.join(directory, "other");
  expect(await place.db("backup", other)).toMatchObject({ exitCode: 5 });
  await expect(stat(`${other}.partial`)).rejects.toThrow("ENOENT");
  expect(await place.db("backup", path.join(directory, "no", "directory"))).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("ENOENT"),
  });
});

test("check finds tasks that break a rule, next to a running Bridge, and changes nothing", async () => {
  const place = await createPlace();
  const bridge = await start(place);
  for (const taskId of ["one", "two", "three"]) await runTask(bridge, taskId);
  expect(await place.db("check", "--json")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"faults": []') });
  const seqOf = (id: string) => `(SELECT seq FROM task WHERE id = '${id}')`;
  await place.query(`DELETE FROM event WHERE type = 'execution.completed' AND task = ${seqOf("one")}`);
  await place.query(`UPDATE event SET type = 'execution.completed' WHERE type = 'execution.started' AND task = ${seqOf("two")}`);
  const { exitCode, stdout, stderr } = await place.db("check");
  expect([exitCode, stdout]).toEqual([
    1,
    expect.stringMatching(/fault\tan ended task does not have exactly one terminal event: default\/one, default\/two\n.*damaged$/s),
  ]);
  expect(stderr).toMatch(/is damaged.*brg db restore/s);
  // After retention, the terminal event may be gone, but only together with all events before it.
  await place.query(`UPDATE counter SET value = 1 WHERE name = 'pruned'`);
  await place.query(`DELETE FROM event WHERE task IN (${seqOf("one")}, ${seqOf("two")}) AND type NOT LIKE 'callback.%'`);
  expect(await place.db("check")).toMatchObject({ exitCode: 0 });
});

test("without a database, check, backup and restore name what is missing", async () => {
  const cwd = await temporaryDirectory();
  expect(await runCli(["db", "check"], { cwd })).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("does not exist") });
  const unreachable = { BRIDGE_DATABASE_URL: "postgres://user:hidden@127.0.0.1:1/bridge" };
  for (const command of [["check"], ["backup", backup]]) {
    const { exitCode, stderr } = await runCli(["db", ...command], { env: unreachable });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("127.0.0.1:1")]);
    expect(stderr).not.toContain("hidden");
  }
});
