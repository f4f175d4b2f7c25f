import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { createCheckpoints } from "../../../../src/store/engines/sqlite/checkpoints.ts";
import { openDriver } from "../../../../src/store/engines/sqlite/driver.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const MIB = 1024 ** 2;
const page = "x".repeat(4000);

async function temporaryFile(): Promise<string> {
  return path.join(await temporaryDirectory(), "bridge.db");
}

/** The write-ahead log's pages, and how many of them are in the database file. */
function readLog(file: string): { log: number; checkpointed: number } {
  const database = new SqliteDatabase(file);
  try {
    return database.prepare("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number };
  } finally {
    database.close();
  }
}

/** How often the log was started again: the checkpoint sequence number in its header. */
function readRestarts(file: string): number {
  const header = Buffer.alloc(16);
  const log = openSync(`${file}-wal`, "r");
  readSync(log, header);
  closeSync(log);
  return header.readUInt32BE(12);
}

test("the log starts again from its beginning while writes continue", async () => {
  const file = await temporaryFile();
  const driver = openDriver(file, { onFault: expect.unreachable });
  onTestFinished(driver.close);
  driver.run("CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT)");
  const insertPages = async (commits: number): Promise<void> => {
    for (let commit = 0; commit < commits; commit += 1)
      await driver.write(() => {
        for (let count = 0; count < 20; count += 1) driver.run("INSERT INTO page (text) VALUES (?)", page);
      });
  };
  // SQLite alone starts the log again after 4,000 pages, so 5 times in 20,000. On a busy machine, it can be faster than the thread.
  for (let restarts = readRestarts(file), found = 0; found < 12; ) {
    await insertPages(1000);
    found = readRestarts(file) - restarts;
    restarts += found;
  }
});

test("a few large writes start a checkpoint", async () => {
  const file = await temporaryFile();
  const driver = openDriver(file, { onFault: expect.unreachable });
  onTestFinished(driver.close);
  driver.run("CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT)");
  const text = "x".repeat(MIB);
  for (let count = 0; count < 3; count += 1)
    await driver.write(() => driver.run("INSERT INTO page (text) VALUES (?)", text), { bytes: text.length });
  await expect.poll(() => readLog(file).checkpointed, { timeout: 30_000 }).toBeGreaterThan(600);
});

test("closing waits for the thread and leaves no log", async () => {
  const file = await temporaryFile();
  const driver = openDriver(file, { onFault: expect.unreachable });
  driver.run("CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT)");
  await driver.write(() => {
    for (let count = 0; count < 700; count += 1) driver.run("INSERT INTO page (text) VALUES (?)", page);
  });
  await driver.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
});

test("closing waits for a thread that still starts, because terminating it would abort the process", async () => {
  const file = await temporaryFile();
  const database = new SqliteDatabase(file);
  onTestFinished(() => void database.close());
  database.pragma("journal_mode = WAL");
  const checkpoints = createCheckpoints(database, file);
  database.exec("CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT)");
  insertPages(database, 700);
  checkpoints.countWrite(700 * page.length);
  checkpoints.startIfDue();
  await checkpoints.close();
  expect(readLog(file).checkpointed).toBeGreaterThan(600);
});

test("SQLite runs the checkpoints itself if the thread cannot open the file", async () => {
  const file = await temporaryFile();
  const database = new SqliteDatabase(file);
  onTestFinished(() => void database.close());
  database.pragma("journal_mode = WAL");
  const checkpoints = createCheckpoints(database, path.join(file, "missing"));
  onTestFinished(checkpoints.close);
  database.exec("CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT)");
  for (let commit = 0; commit < 500; commit += 1) {
    insertPages(database, 20);
    checkpoints.countWrite(20 * page.length);
    checkpoints.startIfDue();
    await nextTurn();
  }
  expect(statSync(`${file}-wal`).size).toBeLessThan(18 * MIB);
});

function insertPages(database: Database, count: number): void {
  const insert = database.prepare("INSERT INTO page (text) VALUES (?)");
  database.transaction(() => {
    for (let index = 0; index < count; index += 1) insert.run(page);
  })();
}
