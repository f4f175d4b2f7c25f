import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../../../src/store/engines/postgres/migrate.ts";
import { ORIGIN } from "../../../fixtures/schemas/stored-rows.ts";
import { shellCommand, startBridgeProgram } from "../../../support/bridge-program.ts";
import { expectStoredApprovalRejected, expectStoredTasksContinue } from "../../../support/expect-stored-tasks-continue.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/create-database.ts";
import { startReceiver } from "../../../support/start-receiver.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const migrationsDirectory = path.resolve(import.meta.dirname, "../../../../migrations/postgres");
const names = readdirSync(migrationsDirectory)
  .filter((name) => name.endsWith(".sql"))
  .sort();
/** A database of each schema, as a killed Bridge left it. `generate-postgres.ts` writes that of a new schema. */
const fixtureOf = (version: number): string =>
  path.resolve(import.meta.dirname, `../../../fixtures/schemas/postgres-${String(version).padStart(3, "0")}.sql.gz`);

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
    // The node of the database is declared dead, and this one takes over.
    await expectStoredTasksContinue(bridge, { posts });
    await expectStoredApprovalRejected(bridge);

    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    expect(await schemaOf(database)).toEqual(await schemaOf(await migrateTo(names.length)));
  },
);
