import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { compileCache } from "../../harness/compile-cache.ts";
import { startBridgeProgram } from "../../support/bridge-program.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

/** Runs `node src/main.ts` with these arguments in an empty directory. Resolves with its exit code and output. */
async function runCommand(programArguments: readonly string[], database: TestDatabase | null, environment: Record<string, string> = {}) {
  const cwd = await temporaryDirectory();
  const settings = database === null ? {} : { BRIDGE_DATABASE_URL: database.urlAt(database.port) };
  const env = { ...compileCache, PATH: "/usr/bin:/bin", ...settings, ...environment };
  const running = promisify(execFile)(process.execPath, [path.join(repository, "src/main.ts"), ...programArguments], { cwd, env });
  return running.then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
  );
}

const readEpoch = async (database: TestDatabase) => (await database.query("SELECT value FROM meta WHERE name = 'epoch'"))[0];

describe("node src/main.ts migrate", () => {
  test("node src/main.ts migrate creates the schema, with which a node starts that may not migrate", async () => {
    const database = await createDatabase({ isEmpty: true });
    const settings = { BRIDGE_DATABASE_URL: database.urlAt(database.port), BRIDGE_MIGRATE: "off" };
    const dataDir = await temporaryDirectory();
    await expect(startBridgeProgram(dataDir, settings)).rejects.toThrow("BRIDGE_MIGRATE is off. Run: npx brg db migrate");
    expect(await runCommand(["migrate"], database, { BRIDGE_MIGRATE: "off" })).toEqual({
      code: 0,
      text: expect.stringMatching(/^The database has schema version \d+\.\n$/),
    });
    const bridge = await startBridgeProgram(dataDir, settings);
    expect((await bridge.call("GET", "/healthz")).status).toBe(200);
  });

  test("node src/main.ts migrate fails without PostgreSQL", async () => {
    const { code, text } = await runCommand(["migrate"], null);
    expect([code, text]).toEqual([1, expect.stringContaining("This command needs PostgreSQL: set BRIDGE_DATABASE_URL.")]);
  });
});

describe("node src/main.ts epoch renew", () => {
  test("node src/main.ts epoch renew starts a new epoch when no node runs", async () => {
    const database = await createDatabase();
    await database.query("INSERT INTO meta (name, value) VALUES ('epoch', 'old')");
    expect(await runCommand(["epoch", "renew"], database)).toMatchObject({ code: 0 });
    const first = await readEpoch(database);
    expect(first).not.toEqual({ value: "old" });
    expect(await runCommand(["epoch", "renew"], database)).toMatchObject({ code: 0 });
    expect(await readEpoch(database)).not.toEqual(first);
  });

  test("node src/main.ts epoch renew refuses while a node is running, and names it", async () => {
    const database = await createDatabase();
    const settings = { BRIDGE_DATABASE_URL: database.urlAt(database.port), BRIDGE_NODE_NAME: "node-1" };
    const bridge = await startBridgeProgram(await temporaryDirectory(), settings);
    await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(200);
    const before = await readEpoch(database);
    const { code, text } = await runCommand(["epoch", "renew"], database);
    expect([code, text]).toEqual([1, expect.stringMatching(/cannot be renewed while nodes are running.*node-1 \(\d+ s\)/s)]);
    expect(await readEpoch(database)).toEqual(before);
    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    expect(await runCommand(["epoch", "renew"], database)).toMatchObject({ code: 0 });
  });

  test("a node that was frozen meanwhile exits when it continues, because it would use the old epoch", async () => {
    const database = await createDatabase();
    const settings = { BRIDGE_DATABASE_URL: database.urlAt(database.port), BRIDGE_LEASE_SECONDS: "5" };
    const bridge = await startBridgeProgram(await temporaryDirectory(), settings);
    await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(200);
    bridge.signal("SIGSTOP");
    await expect.poll(async () => (await runCommand(["epoch", "renew"], database)).code).toBe(0);
    bridge.signal("SIGCONT");
    expect(await bridge.exited).toBe(1);
    expect(bridge.log.map(({ msg }) => msg)).toContain("other nodes declared this node dead, because its lease was over");
  });
});

test("an unknown command fails and lists the commands", async () => {
  const { code, text } = await runCommand(["epoch"], null);
  expect(code).toBe(1);
  expect(text).toMatch(
    /^Unknown command: epoch\. .* This program knows only: migrate, epoch renew\. npx brg --help lists all other commands\. .*\n$/,
  );
});
