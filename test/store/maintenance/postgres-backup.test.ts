import { readFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { runCli, startCli } from "../../../packages/bridge-cli/test/start-cli.ts";
import { connect } from "../../../src/store/engines/postgres/connection.ts";
import { migrateDatabase } from "../../../src/store/engines/postgres/prepare-database.ts";
import { type BridgeProgram, shellCommand, startBridgeProgram } from "../../support/bridge-program.ts";
import { findPrograms } from "../../support/postgres/cluster.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { askUntil } from "../../support/until.ts";

const repository = path.resolve(import.meta.dirname, "../../..");
/** More bytes than the pipes between the programs of a restore hold. */
const MORE_THAN_A_PIPE = 2_000_000;
const operationsPage = path.join(repository, "docs/operations.md");

/** The command of the page about operations that starts a new epoch in a restored database. */
async function readEpochCommand(url: string): Promise<string> {
  const page = await readFile(operationsPage, "utf8");
  const section = page.slice(page.indexOf("\n### Back up PostgreSQL\n"));
  const [, command = ""] = /```sh\n(.+?)```/s.exec(section) ?? [];
  return command.replace("postgres://user:password@host:port/database", url);
}

const urlOf = ({ urlAt, port }: TestDatabase): string => urlAt(port);

/** The first command of the page about several nodes that restores a dump. */
async function readRestoreCommand(): Promise<string> {
  const page = await readFile(path.join(repository, "docs/scale-out.md"), "utf8");
  return /^pg_restore .+$/m.exec(page)?.[0] ?? "";
}

async function runTask(bridge: BridgeProgram, taskId: string): Promise<string> {
  const ended = await bridge.call("POST", "/api/v2/dispatch", { taskId, agentId: "a", message: "m" }, { prefer: "wait=10" });
  expect(await ended.json()).toMatchObject({ state: "completed" });
  const events = (await (await bridge.call("GET", `/api/v2/tasks/${taskId}/events`)).json()) as { data: { id: string }[] };
  return events.data.at(-1)?.id ?? "";
}

async function firstEventAfter(bridge: BridgeProgram, id: string): Promise<string> {
  const stream = await bridge.call("GET", "/api/events", undefined, { "last-event-id": id });
  let text = "";
  for await (const chunk of (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, type] = /\nevent: (.+)\n/.exec(text) ?? [];
    if (type !== undefined) return type;
  }
  throw new Error("The stream has ended.");
}

test("after a dump was restored and the epoch renewed, a reader with a later event id gets stream.gap", async () => {
  const programs = { env: { PATH: `${findPrograms()}:${process.env["PATH"] ?? ""}` } };
  const [original, restored] = [await createDatabase({ isEmpty: true }), await createDatabase({ isEmpty: true })];
  const dataDir = await temporaryDirectory();
  const start = (database: TestDatabase) =>
    startBridgeProgram(dataDir, { BRIDGE_DATABASE_URL: urlOf(database), BRIDGE_LEASE_SECONDS: "3", ...shellCommand("echo done") });
  const first = await start(original);
  const keptId = await runTask(first, "before");
  const { stdout: dump } = await execa("pg_dump", [urlOf(original)], programs);
  const lostId = await runTask(first, "after");
  first.signal("SIGTERM");
  expect(await first.exited).toBe(0);

  await execa("psql", ["-q", "-v", "ON_ERROR_STOP=1", urlOf(restored)], { ...programs, input: dump });
  const epochCommand = await readEpochCommand(urlOf(restored));
  const renewed = await askUntil(
    () => execa("bash", ["-e", "-c", epochCommand], { cwd: repository, reject: false }),
    ({ stderr }) => !stderr.includes("wait until their leases are over"),
  );
  expect(renewed.stdout).toMatch(/^The event ids of the database have the new epoch [0-9a-f]{10}\.$/);
  const second = await start(restored);
  expect((await second.call("GET", "/api/v2/tasks/after")).status).toBe(404);
  const newId = await runTask(second, "later");
  for (const id of [lostId, keptId]) expect(await firstEventAfter(second, id)).toBe("stream.gap");
  await runTask(second, "last");
  expect(await firstEventAfter(second, newId)).toBe("execution.started");
});

test("a backup from before an upgrade replaces the upgraded schema, and is not restored while a program uses the database", async () => {
  const database = await createDatabase({ isEmpty: true });
  const cwd = await temporaryDirectory();
  const env = { PATH: `${findPrograms()}:${process.env["PATH"] ?? ""}`, ADMIN_DATABASE_URL: urlOf(database).replace(/[^/]+$/, "postgres") };
  await migrateDatabase(urlOf(database));
  await execa("pg_dump", ["--format=custom", "--file=bridge.dump", urlOf(database)], { cwd, env });
  await database.query("CREATE TABLE of_the_next_release ()");
  await database.query("INSERT INTO meta VALUES ('of_the_next_release', '1')");
  const restore = async () => execa("bash", ["-e", "-c", await readRestoreCommand()], { cwd, env, reject: false });

  const user = await connect({ url: urlOf(database) });
  expect((await restore()).stderr).toMatch(/is being accessed by other users/);
  user.close();
  expect(await database.query("SELECT name FROM meta WHERE name = 'of_the_next_release'")).toHaveLength(1);
  await askUntil(restore, ({ exitCode }) => exitCode === 0);
  const left =
    "SELECT to_regclass('of_the_next_release') AS relation, (SELECT count(*)::int FROM meta WHERE name = 'of_the_next_release') AS rows";
  expect(await database.query(left)).toEqual([{ relation: null, rows: 0 }]);
});

test("a restore that is killed before psql has received all of it changes nothing, and can be repeated", async () => {
  const database = await createDatabase({ isEmpty: true });
  const env = {
    PATH: `${findPrograms()}:/usr/bin:/bin`,
    BRIDGE_DATA_DIR: await temporaryDirectory(),
    BRIDGE_DATABASE_URL: urlOf(database),
  };
  const backup = path.join(env.BRIDGE_DATA_DIR, "bridge.backup");
  const addTask = (id: string) =>
    database.query(
      `INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at)
       VALUES ('default', $1, 'a', 'command', 'queued', $2, $1, 1)`,
      [id, JSON.stringify({ message: "m".repeat(MORE_THAN_A_PIPE) })],
    );
  const readIds = async () => (await database.query<{ id: string }>("SELECT id FROM task ORDER BY seq")).map(({ id }) => id);
  await migrateDatabase(urlOf(database));
  await database.query("INSERT INTO meta (name, value) VALUES ('epoch', 'abcdef0123')");
  await addTask("backed-up");
  expect(await runCli(["db", "backup", backup], { env })).toMatchObject({ exitCode: 0 });
  await addTask("later");

  // The restore waits here until it may drop the table.
  const reader = await connect({ url: urlOf(database) });
  await reader.query("SET idle_in_transaction_session_timeout = 0");
  await reader.query("BEGIN");
  await reader.query("SELECT 1 FROM task");
  const killed = await startCli(["db", "restore", backup, "--force"], { env });
  // The other databases of the server have a table with the same number.
  const waiting = `SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'task'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await expect.poll(() => database.query(waiting)).toHaveLength(1);
  killed.signal("SIGKILL");
  expect(await killed.exited).toBe("SIGKILL");
  reader.close();
  await expect
    .poll(() => database.query("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'psql'"))
    .toEqual([]);
  expect(await readIds()).toEqual(["backed-up", "later"]);
  expect(await runCli(["db", "restore", backup, "--force"], { env })).toMatchObject({ exitCode: 0 });
  expect(await readIds()).toEqual(["backed-up"]);
});
