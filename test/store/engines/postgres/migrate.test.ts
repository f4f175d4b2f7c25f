import { readdirSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { migrate } from "../../../../src/store/engines/postgres/migrate.ts";
import { joinCluster } from "../../../../src/store/nodes/postgres-join.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/create-database.ts";
import { describeNode } from "../../../support/postgres/open-node.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const migrations = readdirSync(new URL("../../../../migrations/postgres/", import.meta.url));

describe("migrate", () => {
  test("migrate creates the schema in an empty database, and changes nothing the second time", async () => {
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

  test("migrate refuses a schema that is newer than the code", async () => {
    const database = await createDatabase();
    await database.query("UPDATE meta SET value = '99' WHERE name = 'schema_version'");
    await database.query("UPDATE meta SET value = '50' WHERE name = 'compatible_from'");
    await expect(migrate(database.urlAt(database.port))).rejects.toThrow(
      `has schema version 99, which needs a Bridge that knows at least version 50, but this Bridge knows only versions up to ${migrations.length}.`,
    );
  });

  test("migrate accepts a newer schema that is compatible with the code, and does not change it", async () => {
    const database = await createDatabase();
    await database.query("UPDATE meta SET value = '99' WHERE name = 'schema_version'");
    await database.query(`UPDATE meta SET value = '${migrations.length}' WHERE name = 'compatible_from'`);
    expect(await migrate(database.urlAt(database.port))).toBe(99);
    expect(await migrate(database.urlAt(database.port), { isAllowed: false })).toBe(99);
  });

  test("migrate stores the highest version with which one of its migrations is compatible", async () => {
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

  test("migrate refuses migrations that do not state with which versions they are compatible", async () => {
    const directory = await writeMigrations(["CREATE TABLE a (b int);"]);
    const database = await createDatabase({ isEmpty: true });
    await expect(migrate(database.urlAt(database.port), { directory })).rejects.toThrow(
      '001.sql has no line "-- compatible-from: <number>"',
    );
  });

  test("migrate refuses an older schema, without changing it, if it may not migrate", async () => {
    const database = await createDatabase({ isEmpty: true });
    await expect(migrate(database.urlAt(database.port), { isAllowed: false })).rejects.toThrow(
      `the database has schema version 0, this Bridge needs version ${migrations.length}, and BRIDGE_MIGRATE is off. Run: npx brg db migrate`,
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

  test("a migration has no statement timeout, and waits only briefly for a lock", async () => {
    const columns = "current_setting('statement_timeout') AS statement_timeout, current_setting('lock_timeout') AS lock_timeout";
    const directory = await writeMigrations([`${META}\nCREATE TABLE shown AS SELECT ${columns};`]);
    const database = await createDatabase({ isEmpty: true });
    await migrate(database.urlAt(database.port), { directory });
    expect(await database.query("SELECT * FROM shown")).toEqual([{ statement_timeout: "0", lock_timeout: "700ms" }]);
  });

  test("a migration that waits for a transaction does not block the statements of running nodes", async () => {
    const directory = await writeMigrations([`${META}\nCREATE TABLE a (b int);`]);
    const database = await createDatabase({ isEmpty: true });
    const url = database.urlAt(database.port);
    await migrate(url, { directory });
    const [report, node] = [await openClient(url), await openClient(url)];
    await report.query("BEGIN");
    await report.query("SELECT * FROM a");
    await writeFile(new URL("002.sql", directory), "-- compatible-from: 1\nALTER TABLE a ADD COLUMN c int;");
    const migrated = migrate(url, { directory });
    const isWaiting = async () =>
      (await database.query("SELECT 1 FROM pg_locks WHERE relation = 'a'::regclass AND NOT granted")).length > 0;
    await expect.poll(isWaiting).toBe(true);
    await node.query("SET lock_timeout = '5s'");
    for (let count = 0; count < 3; count += 1) await node.query("INSERT INTO a (b) VALUES (1)");
    await report.query("COMMIT");
    expect(await migrated).toBe(2);
    expect(await database.query("SELECT b, c FROM a LIMIT 1")).toEqual([{ b: 1, c: null }]);
  });

  test("a migration that is marked as alone runs outside a transaction, also when several nodes start at the same time", async () => {
    const directory = await writeMigrations([
      `${META}\nCREATE TABLE a (b int);`,
      "-- compatible-from: 1\n-- alone\nDROP INDEX CONCURRENTLY IF EXISTS a_b;\nCREATE INDEX CONCURRENTLY a_b ON a (b);",
      "-- compatible-from: 1\nALTER TABLE a ADD COLUMN c int;",
    ]);
    const database = await createDatabase({ isEmpty: true });
    const versions = await Promise.all(Array.from({ length: 4 }, () => migrate(database.urlAt(database.port), { directory })));
    expect(versions).toEqual([3, 3, 3, 3]);
    expect(await database.query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_b'::regclass")).toEqual([{ indisvalid: true }]);
  });

  test("a migration with which a live node could not work is not run", async () => {
    const database = await createDatabase();
    const url = database.urlAt(database.port);
    const directory = await copyMigrations();
    await writeFile(new URL(`${nextName()}-next.sql`, directory), `-- compatible-from: ${migrations.length + 1}\nCREATE TABLE a (b int);`);
    await insertNode(database, { name: "old", leaseMs: 60_000 });
    await expect(migrate(url, { directory })).rejects.toThrow(
      `it needs schema version ${migrations.length + 1}, with which these running nodes cannot work: old.`,
    );
    expect(await database.query("SELECT to_regclass('a') AS found")).toEqual([{ found: null }]);
    await database.query("UPDATE node SET lease_until = 0");
    expect(await migrate(url, { directory })).toBe(migrations.length + 1);
  });

  test("a node does not join after the schema became too new for it", async () => {
    const database = await createDatabase();
    const url = database.urlAt(database.port);
    await database.query("UPDATE meta SET value = '99'");
    const joined = joinCluster(url, { id: "n1", incarnation: "1", home: "/n1" }, describeNode("n1"), {
      signal: AbortSignal.timeout(60_000),
    });
    await expect(joined).rejects.toThrow("the database has schema version 99, which needs a Bridge that knows at least version 99");
    expect(await database.query("SELECT name FROM node")).toEqual([]);
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

const META = "-- compatible-from: 1\nCREATE TABLE meta (name text PRIMARY KEY, value text);";

const nextName = (): string => String(migrations.length + 1).padStart(3, "0");

/** Copies Bridge's migrations, so that a test can add one. */
async function copyMigrations(): Promise<URL> {
  const directory = await temporaryDirectory();
  await cp(new URL("../../../../migrations/postgres/", import.meta.url), directory, { recursive: true });
  return pathToFileURL(`${directory}/`);
}

/** Registers a node that knows all migrations of this code. */
async function insertNode(database: TestDatabase, { name, leaseMs }: { name: string; leaseMs: number }): Promise<void> {
  const identity = { id: name, incarnation: "1", home: `/${name}` };
  await joinCluster(database.urlAt(database.port), identity, describeNode(name, { leaseMs }), { signal: AbortSignal.timeout(60_000) });
}

/** Opens a session that ends with the test. */
async function openClient(url: string): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function writeMigrations(files: readonly string[]): Promise<URL> {
  const directory = await temporaryDirectory();
  for (const [index, sql] of files.entries()) await writeFile(path.join(directory, `00${index + 1}.sql`), sql);
  return pathToFileURL(`${directory}/`);
}
