import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../temporary-directory.ts";
import { findPrograms, startCluster } from "./cluster.ts";
import { createDatabase } from "./create-database.ts";

test("a machine without PostgreSQL is reported with the command that installs it", async () => {
  const empty = await temporaryDirectory();
  expect(() => findPrograms({ PATH: empty }, empty)).toThrow("`apt-get install postgresql` on Debian");
});

test("PostgreSQL is found where Debian installs it", () => {
  expect(findPrograms({ PATH: "" })).toMatch(/^\/usr\/lib\/postgresql\/\d+\/bin$/);
});

test("each test has its own migrated database", async () => {
  const [first, second] = [await createDatabase(), await createDatabase()];
  await first.query("INSERT INTO meta VALUES ('mark', '1')");
  expect(await second.query("SELECT name FROM meta")).toEqual([{ name: "schema_version" }, { name: "compatible_from" }]);
});

test("a server that crashed starts again on its port with its data", async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.close());
  const database = await createDatabase({ port: cluster.port, isEmpty: true });
  await database.query("CREATE TABLE kept (number int)");
  await database.query("CHECKPOINT");
  await cluster.crashAndRestart();
  expect(await database.query("SELECT * FROM kept")).toEqual([]);
});
