import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../packages/bridge-cli/test/start-cli.ts";
import { groups, verbs } from "../../src/cli/local-verbs.ts";
import { openStore } from "../../src/store/open-sqlite.ts";
import { compileCache } from "../harness/compile-cache.ts";
import { damageMiddle, fillDatabase } from "../store/engines/sqlite/damaged-file.ts";
import { shellCommand } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const program = path.resolve(import.meta.dirname, "../../packages/bridge-cli/src/bridge.js");

/** Creates the data directory of a stopped Bridge, with an empty database. */
async function createDatabase(): Promise<{ dataDir: string; file: string }> {
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, "bridge.db");
  await openStore({ file }).close();
  return { dataDir, file };
}

const db = (dataDir: string, ...args: string[]) => runCli(["db", ...args], { env: { BRIDGE_DATA_DIR: dataDir } });

test("the help of a clone lists the commands for the server, and each explains itself", async () => {
  const { stdout } = await runCli(["--help"]);
  const [, local = ""] = stdout.split("Commands for the server in this directory:");
  for (const name of ["serve", ...Object.keys(groups)]) expect(local).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  for (const { name, summary } of verbs)
    expect((await runCli([...name.split(" "), "--help"])).stdout.replaceAll(/\s+/g, " ")).toContain(summary);
  expect((await runCli(["completion", "bash"])).stdout).toContain("renew-epoch");
});

test("serve starts Bridge in the current directory with .env, and SIGTERM stops it with code 0", async () => {
  const cwd = await temporaryDirectory();
  const env = { ...compileCache, PATH: "/usr/bin:/bin", HOME: cwd, BRIDGE_PORT: "0", ...shellCommand("echo") };
  const child = spawn(process.execPath, [program, "serve"], { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const [line] = await once(createInterface(child.stdout), "line");
  const { address, msg } = JSON.parse(String(line)) as { address: string; msg: string };
  expect(msg).toBe("listening");
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
});

test("check and backup report a damaged database with code 1 and what to do, and restore replaces it", async () => {
  const { dataDir, file } = await createDatabase();
  const backup = path.join(dataDir, "good.backup");
  expect((await db(dataDir, "backup", backup)).exitCode).toBe(0);
  fillDatabase(file, "default", 200);
  damageMiddle(file);
  const checked = await db(dataDir, "check", "--json");
  expect(checked).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("brg db restore") });
  expect(JSON.parse(checked.stdout)).toMatchObject({
    isDamaged: true,
    engine: "sqlite",
    faults: ["database disk image is malformed: the table task or one of its indexes"],
  });
  expect(await db(dataDir, "backup", path.join(dataDir, "bad.backup"))).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/is damaged.*brg db restore/s),
  });
  expect(await db(dataDir, "restore", backup)).toMatchObject({
    exitCode: 6,
    stderr: expect.stringContaining("contains 200 tasks"),
  });
  expect((await db(dataDir, "restore", backup, "--force")).exitCode).toBe(0);
  expect((await readdir(dataDir)).filter((name) => name.startsWith("bridge.db.replaced-"))).toHaveLength(1);
  expect((await db(dataDir, "check")).exitCode).toBe(0);
});

test("check and restore report that a file has no schema version, and not that it is empty", async () => {
  const { dataDir, file } = await createDatabase();
  const other = path.join(dataDir, "other.db");
  new SqliteDatabase(file).exec("PRAGMA user_version = 0").close();
  new SqliteDatabase(other).exec("CREATE TABLE note (text TEXT)").close();
  const foreign = await runCli(["db", "check"], { env: { BRIDGE_DATABASE_URL: `sqlite:${other}` } });
  expect(foreign).toMatchObject({ exitCode: 5, stderr: expect.stringMatching(/tables of another program.*BRIDGE_DATABASE_URL/) });
  const refusal = { exitCode: 1, stderr: expect.stringContaining("has no schema version (PRAGMA user_version is 0)") };
  expect(await db(dataDir, "restore", other, "--without-manifest")).toMatchObject(refusal);
  expect(await db(dataDir, "check")).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("no schema version") });
});

test("restore accepts a copy without a manifest only with --without-manifest", async () => {
  const { dataDir, file } = await createDatabase();
  const copy = path.join(dataDir, "copy.db");
  await new SqliteDatabase(file, { readonly: true }).backup(copy);
  expect(await db(dataDir, "restore", copy)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--without-manifest") });
  expect((await db(dataDir, "restore", copy, "--without-manifest")).exitCode).toBe(0);
  const text = path.join(dataDir, "text");
  await writeFile(text, "no database");
  expect(await db(dataDir, "restore", text, "--without-manifest", "--force")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("is not a SQLite database"),
  });
});

test("a restore that is killed before any of its file operations leaves the old or the new database", async () => {
  const { dataDir, file } = await createDatabase();
  const backup = path.join(dataDir, "bridge.backup");
  fillDatabase(file, "default", 3);
  // Fillers have no events, which the rules of a check require, so only SQLite's own check is used here.
  expect((await db(dataDir, "backup", backup)).exitCode).toBe(0);
  fillDatabase(file, "other", 2);
  const preload = pathToFileURL(path.join(import.meta.dirname, "../fixtures/programs/kill-at-file-operation.js"));
  const outcomes = new Set<number>();
  for (let operation = 1; ; operation += 1) {
    const args = ["db", "restore", backup, "--force"];
    const env = { BRIDGE_DATA_DIR: dataDir, KILL_AT: String(operation) };
    const { exitCode } = await runCli(args, { env, nodeOptions: `--import ${preload}` });
    const database = new SqliteDatabase(file);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    outcomes.add(Number(database.prepare("SELECT count(*) FROM task").pluck().get()));
    database.close();
    if (exitCode === 0) break;
    expect(exitCode).toBeUndefined();
  }
  expect([...outcomes]).toEqual([5, 3]);
});

test("the commands of a directory without settings use its data directory", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(path.join(cwd, "data"));
  expect(await runCli(["db", "check"], { cwd })).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("data/bridge.db") });
  expect(await runCli(["db", "migrate"], { cwd })).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("BRIDGE_DATABASE_URL") });
});
