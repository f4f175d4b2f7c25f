import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import SqliteDatabase from "better-sqlite3";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-sqlite.ts";
import { ORIGIN } from "../fixtures/schemas/stored-rows.ts";
import { startBridgeApp } from "../support/bridge-app.ts";
import { shellCommand } from "../support/bridge-program.ts";
import { expectStoredApprovalRejected, expectStoredTasksContinue } from "../support/expect-stored-tasks-continue.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const migrationsDirectory = path.resolve(import.meta.dirname, "../../migrations");
const migrations = readdirSync(migrationsDirectory)
  .filter((name) => name.endsWith(".sql"))
  .sort()
  .map((name) => readFileSync(path.join(migrationsDirectory, name), "utf8"));
/** A database of each schema, as the Bridge version of that schema left it. `generate.ts` writes that of a new schema. */
const fixtures = path.resolve(import.meta.dirname, "../fixtures/schemas");
const fixtureOf = (version: number): string => path.join(fixtures, `sqlite-${String(version).padStart(3, "0")}.db.gz`);

/** The rows of these databases become old. */
const RETENTION_DAYS = "3650";

function schemaOf(file: string): unknown[] {
  const database = new SqliteDatabase(file, { readonly: true });
  try {
    const schema = database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").all();
    return [database.pragma("user_version", { simple: true }), database.pragma("integrity_check", { simple: true }), ...schema];
  } finally {
    database.close();
  }
}

/** The schema of a new database. */
let newSchema: unknown[];
beforeAll(async () => {
  const atEnd: (() => unknown)[] = [];
  const file = path.join(await temporaryDirectory((act) => void atEnd.push(act)), "bridge.db");
  await openStore({ file }).close();
  newSchema = schemaOf(file);
  for (const act of atEnd) await act();
});

test("there is a database of each schema", () => {
  expect(migrations.map((_, index) => fixtureOf(index + 1)).filter((file) => !existsSync(file))).toEqual([]);
});

test.each(migrations.map((_, index) => index + 1))(
  "a database of schema %i is upgraded, and its tasks, callbacks and events continue",
  async (version) => {
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "bridge.db");
    const { posts, origin, close } = await startReceiver();
    onTestFinished(close);
    writeFileSync(file, gunzipSync(readFileSync(fixtureOf(version))));
    const released = schemaOf(file);
    const database = new SqliteDatabase(file);
    database.prepare("UPDATE callback SET url = replace(url, $from, $to), origin = $to").run({ from: ORIGIN, to: origin });
    database.prepare("UPDATE task SET request = replace(request, $from, $to)").run({ from: ORIGIN, to: origin });
    database.close();
    // A migration that was released is never changed.
    const migrated = new SqliteDatabase(path.join(dataDir, "migrated.db"));
    for (const sql of migrations.slice(0, version)) migrated.exec(sql);
    migrated.pragma(`user_version = ${version}`);
    migrated.close();
    expect(schemaOf(path.join(dataDir, "migrated.db"))).toEqual(released);

    const bridge = await startBridgeApp(dataDir, { ...shellCommand("echo done"), BRIDGE_RETENTION_DAYS: RETENTION_DAYS });
    const eventIds = await expectStoredTasksContinue(bridge, { posts });
    expect(eventIds).toEqual(["abcdef0123-1", "abcdef0123-2", "abcdef0123-3"]);
    if (version >= 2) await expectStoredApprovalRejected(bridge);

    await bridge.close();
    expect(schemaOf(file)).toEqual(newSchema);
  },
);
