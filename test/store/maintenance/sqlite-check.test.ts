import { closeSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, test } from "vitest";
import { findFaults } from "../../../src/store/maintenance/sqlite-check.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const PAGE_BYTES = 4096;

test.each<[string, { at: number; bytes: number[] }, RegExp]>([
  ["a page whose kind is wrong", { at: 0, bytes: [5] }, /^\*\*\* in database main \*\*\* Tree \d+ \(table note\) page \d+/],
  [
    "a page that SQLite cannot read at all",
    { at: 3, bytes: [0xff, 0xff] },
    /^database disk image is malformed: the table note or one of its indexes$/,
  ],
])("the faults of %s name the table", async (_, { at, bytes }, expected) => {
  const file = path.join(await temporaryDirectory(), "notes.db");
  const whole = new SqliteDatabase(file);
  whole.exec("CREATE TABLE other (text TEXT); CREATE TABLE note (text TEXT)");
  const insert = whole.prepare("INSERT INTO note VALUES (?)");
  for (let row = 0; row < 1000; row += 1) insert.run("x".repeat(60));
  const page = whole.prepare("SELECT max(pageno) FROM dbstat WHERE name = 'note' AND pagetype = 'leaf'").pluck().get() as number;
  whole.close();
  const opened = openSync(file, "r+");
  writeSync(opened, Buffer.from(bytes), 0, bytes.length, (page - 1) * PAGE_BYTES + at);
  closeSync(opened);

  const damaged = new SqliteDatabase(file, { readonly: true });
  const faults = findFaults(damaged);
  damaged.close();
  expect(faults).toContainEqual(expect.stringMatching(expected));
  expect(faults.join("\n")).not.toContain("other");
});
