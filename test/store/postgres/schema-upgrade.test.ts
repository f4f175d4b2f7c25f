import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../../src/store/postgres/migrate.ts";
import { shellCommand, startBridgeProgram, taskInState } from "../../support/bridge-program.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const migrationsDirectory = path.resolve(import.meta.dirname, "../../../migrations/postgres");
const names = readdirSync(migrationsDirectory)
  .filter((name) => name.endsWith(".sql"))
  .sort();
/** A database of each schema, as a killed Bridge left it. `generate-postgres.ts` writes that of a new schema. */
const fixtureOf = (version: number): string =>
  path.resolve(import.meta.dirname, `../../fixtures/schemas/postgres-${String(version).padStart(3, "0")}.sql.gz`);

/** The origin of the callbacks in these databases. */
const ORIGIN = "http://receiver.invalid";

async function schemaOf({ query }: TestDatabase): Promise<unknown> {
  return {
    columns: await query(
      `SELECT table_name, column_name, data_type, collation_name, column_default, is_nullable FROM information_schema.columns
       WHERE table_schema = 'public' ORDER BY table_name, column_name`,
    ),
    indexes: await query("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexdef"),
    constraints: await query(
      `SELECT conrelid::regclass::text AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace ORDER BY name, text`,
    ),
    storage: await query("SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname"),
    versions: await query("SELECT name, value FROM meta WHERE name IN ('schema_version', 'compatible_from') ORDER BY name"),
  };
}

async function migrateTo(version: number): Promise<TestDatabase> {
  const directory = await temporaryDirectory();
  for (const name of names.slice(0, version)) await cp(path.join(migrationsDirectory, name), path.join(directory, name));
  const database = await createDatabase({ isEmpty: true });
  await migrate(database.urlAt(database.port), { directory: pathToFileURL(`${directory}/`) });
  return database;
}

test("there is a database of each schema", () => {
  expect(names.map((_, index) => fixtureOf(index + 1)).filter((file) => !existsSync(file))).toEqual([]);
});

test.each(names.map((_, index) => index + 1))(
  "a database of schema %i is upgraded, and its tasks, callbacks and events continue on another node",
  async (version) => {
    const { posts, origin, close } = await startReceiver();
    onTestFinished(close);
    const database = await createDatabase({ isEmpty: true });
    await database.query(gunzipSync(readFileSync(fixtureOf(version))).toString());
    // A migration that was released is never changed.
    expect(await schemaOf(await migrateTo(version))).toEqual(await schemaOf(database));
    await database.query("UPDATE callback SET url = replace(url, $1, $2), origin = $2", [ORIGIN, origin]);
    await database.query("UPDATE task SET request = replace(request, $1, $2)", [ORIGIN, origin]);

    const bridge = await startBridgeProgram(await temporaryDirectory(), {
      ...shellCommand("echo done"),
      BRIDGE_DATABASE_URL: database.urlAt(database.port),
      BRIDGE_LEASE_SECONDS: "3",
      BRIDGE_RETENTION_DAYS: "3650",
    });
    const get = async (target: string) => (await (await bridge.call("GET", target)).json()) as { data: Record<string, string>[] };
    // The node is declared dead: its interrupted tasks end, including child tasks, and its queued tasks run here.
    expect(await taskInState(bridge, "running", "failed")).toMatchObject({ result: { errorCode: "bridge_restarted" } });
    expect(await taskInState(bridge, "child", "failed")).toMatchObject({ parentTaskId: "running" });
    await taskInState(bridge, "queued", "completed");
    expect(await taskInState(bridge, "delivered", "completed")).toMatchObject({
      metadata: { ticket: 7 },
      result: { output: "from the past", resumeToken: "session-1" },
      callback: { state: "delivered", attempts: 1 },
    });
    expect((await get("/api/v2/tasks")).data.map(({ taskId }) => taskId)).toEqual(["queued", "child", "running", "owing", "delivered"]);

    // Pending callbacks are posted as stored, and delivered ones are not posted again.
    await expect.poll(() => posts.map((post) => post.path).sort()).toEqual(["/owing", "/running"]);
    expect(posts.find((post) => post.path === "/owing")?.body.toString()).toBe('{"taskId":"owing","äöü":"exactly these bytes"}');
    await expect.poll(async () => await get("/api/v2/tasks/owing")).toMatchObject({ callback: { state: "delivered", attempts: 3 } });

    // The event log continues after its last number.
    const { data: events } = await get("/api/v2/tasks/delivered/events");
    expect(events.map(({ type }) => type)).toEqual(["execution.started", "assistant.text", "execution.completed"]);
    const { data: laterEvents } = await get("/api/v2/tasks/queued/events");
    for (const { id } of laterEvents) expect(Number(id?.split("-")[1])).toBeGreaterThan(6);
    expect(await get("/api/v2/approvals")).toMatchObject({ data: [{ approvalId: "apr_pending", state: "rejected" }] });

    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    expect(await schemaOf(database)).toEqual(await schemaOf(await migrateTo(names.length)));
  },
);
