import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { migrate } from "../../../src/store/postgres/migrate.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const migrations = readdirSync(new URL("../../../migrations/postgres/", import.meta.url));

describe("migrate", () => {
  test("creates the schema in an empty database, and changes nothing the second time", async () => {
    const database = await createDatabase({ isEmpty: true });
    expect(await migrate(database.urlAt(database.port))).toBe(migrations.length);
    expect(await migrate(database.urlAt(database.port))).toBe(migrations.length);
    const versions = await database.query("SELECT value FROM meta WHERE name = 'schema_version'");
    expect(versions).toEqual([{ value: String(migrations.length) }]);
  });

  test("nodes that start at the same time on an empty database run one migration", async () => {
    const database = await createDatabase({ isEmpty: true });
    const versions = await Promise.all(Array.from({ length: 5 }, () => migrate(database.urlAt(database.port))));
    expect(new Set(versions)).toEqual(new Set([migrations.length]));
  });

  test("refuses a schema that is newer than the code", async () => {
    const database = await createDatabase();
    await database.query("UPDATE meta SET value = '99' WHERE name = 'schema_version'");
    await database.query("UPDATE meta SET value = '50' WHERE name = 'compatible_from'");
    await expect(migrate(database.urlAt(database.port))).rejects.toThrow(
      `has schema version 99, which needs a Bridge that knows at least version 50, but this Bridge knows only versions up to ${migrations.length}.`,
    );
  });

  test("accepts a newer schema that is compatible with the code, and does not change it", async () => {
    const database = await createDatabase();
    await database.query("UPDATE meta SET value = '99' WHERE name = 'schema_version'");
    await database.query(`UPDATE meta SET value = '${migrations.length}' WHERE name = 'compatible_from'`);
    expect(await migrate(database.urlAt(database.port))).toBe(99);
    expect(await migrate(database.urlAt(database.port), { isAllowed: false })).toBe(99);
  });

  test("stores the highest version with which one of its migrations is compatible", async () => {
    const directory = await writeMigrations([
      "-- compatible-from: 1\nCREATE TABLE meta (name text PRIMARY KEY, value text);",
      "-- compatible-from: 2\nCREATE TABLE a (b int);",
      "-- compatible-from: 1\nCREATE TABLE c (d int);",
    ]);
    const database = await createDatabase({ isEmpty: true });
    expect(await migrate(database.urlAt(database.port), { directory })).toBe(3);
    expect(await database.query("SELECT value FROM meta WHERE name = 'compatible_from'")).toEqual([{ value: "2" }]);
    await writeFile(new URL("004-next.sql", directory), "-- compatible-from: 1\nCREATE TABLE e (f int);");
    expect(await migrate(database.urlAt(database.port), { directory })).toBe(4);
    expect(await database.query("SELECT value FROM meta WHERE name = 'compatible_from'")).toEqual([{ value: "2" }]);
  });

  test("refuses migrations that do not state with which versions they are compatible", async () => {
    const directory = await writeMigrations(["CREATE TABLE a (b int);"]);
    const database = await createDatabase({ isEmpty: true });
    await expect(migrate(database.urlAt(database.port), { directory })).rejects.toThrow(
      '001.sql has no line "-- compatible-from: <number>"',
    );
  });

  test("refuses an older schema, without changing it, if it may not migrate", async () => {
    const database = await createDatabase({ isEmpty: true });
    await expect(migrate(database.urlAt(database.port), { isAllowed: false })).rejects.toThrow(
      `the database has schema version 0, this Bridge needs version ${migrations.length}, and BRIDGE_MIGRATE is off. Run: node src/main.ts migrate`,
    );
    expect(await database.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  });

  test("a migration that fails leaves the database empty", async () => {
    const database = await createDatabase({ isEmpty: true });
    await database.query("CREATE TABLE event (number bigint)");
    await expect(migrate(database.urlAt(database.port))).rejects.toThrow('relation "event" already exists');
    const tables = await database.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    expect(tables).toEqual([{ tablename: "event" }]);
  });

  test("all texts are compared byte by byte", async () => {
    const database = await createDatabase();
    const others = await database.query(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
    );
    expect(others).toEqual([]);
  });
});

async function writeMigrations(files: readonly string[]): Promise<URL> {
  const directory = await temporaryDirectory();
  for (const [index, sql] of files.entries()) await writeFile(path.join(directory, `00${index + 1}.sql`), sql);
  return pathToFileURL(`${directory}/`);
}
