import { link, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Starts a Bridge that must fail, and returns its error message, which must not contain a stack trace. */
async function startupErrorOf(dataDir: string, environment: Record<string, string> = {}): Promise<string> {
  const message = await startBridgeProgram(dataDir, environment).then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(message).not.toContain("    at ");
  return message;
}

/** Starts a Bridge with a task that runs until `finish`. */
async function startBusyBridge() {
  const dataDir = await temporaryDirectory();
  const signal = path.join(await temporaryDirectory(), "finish");
  const bridge = await startBridgeProgram(
    dataDir,
    shellCommand(`while ! [ -e ${signal} ]; do sleep 0.05; done; echo "$TMPDIR"; ls "$TMPDIR"`),
  );
  const { taskId } = (await (await dispatchTask(bridge, { agentId: "a", message: "m" })).json()) as { taskId: string };
  await taskInState(bridge, taskId, "running");
  return { dataDir, bridge, taskId, finish: () => writeFile(signal, "") };
}

describe("a second Bridge", () => {
  test("a second Bridge does not start on the data directory or the database of a running Bridge, under any path, and does not disturb its task", async () => {
    const { dataDir, bridge, taskId, finish } = await startBusyBridge();
    const elsewhere = await temporaryDirectory();
    const ownsDirectory = /exit 1.*Another process owns the data directory/s;
    expect(await startupErrorOf(dataDir, { BRIDGE_DATABASE_URL: `sqlite:${elsewhere}/other.db` })).toMatch(ownsDirectory);
    await symlink(dataDir, path.join(elsewhere, "link"));
    expect(await startupErrorOf(path.join(elsewhere, "link"), { BRIDGE_DATABASE_URL: `sqlite:${elsewhere}/other.db` })).toMatch(
      ownsDirectory,
    );

    const ownsDatabase = /exit 1.*Another process owns the database/s;
    const database = path.join(dataDir, "bridge.db");
    expect(await startupErrorOf(await temporaryDirectory(), { BRIDGE_DATABASE_URL: `sqlite:${database}` })).toMatch(ownsDatabase);
    const linked = await temporaryDirectory();
    await symlink(database, path.join(elsewhere, "between.db"));
    await symlink(path.join(elsewhere, "between.db"), path.join(linked, "bridge.db"));
    expect(await startupErrorOf(linked)).toMatch(ownsDatabase);
    const hard = await temporaryDirectory();
    await link(database, path.join(hard, "bridge.db"));
    expect(await startupErrorOf(hard)).toMatch(/exit 1.*2 hard links/s);

    await finish();
    const { result } = await taskInState(bridge, taskId, "completed");
    expect(result).toMatchObject({ output: expect.stringContaining(path.join(dataDir, "tmp")) });
  });

  test.runIf(process.platform === "linux")("a second Bridge does not start after the lock file was deleted, at any attempt", async () => {
    const { dataDir, bridge, taskId, finish } = await startBusyBridge();
    await rm(path.join(dataDir, "data-directory.lock"));
    const other = { BRIDGE_DATABASE_URL: `sqlite:${await temporaryDirectory()}/other.db` };
    for (let tries = 0; tries < 2; tries += 1)
      expect(await startupErrorOf(dataDir, other)).toMatch(new RegExp(`exit 1.*process ${bridge.pid} holds .*was deleted`, "s"));
    await finish();
    await taskInState(bridge, taskId, "completed");
  });

  test("a second Bridge starts on the files of a killed Bridge", async () => {
    const { dataDir, bridge, taskId } = await startBusyBridge();
    bridge.signal("SIGKILL");
    await bridge.exited;
    const next = await startBridgeProgram(dataDir);
    expect(await taskInState(next, taskId, "failed")).toMatchObject({ result: { errorCode: "bridge_restarted" } });
  });
});

test("two links to one database file that does not exist yet are recognized as one database", async () => {
  const shared = path.join(await temporaryDirectory(), "shared.db");
  const [first, second] = [await temporaryDirectory(), await temporaryDirectory()];
  for (const dataDir of [first, second]) await symlink(shared, path.join(dataDir, "bridge.db"));
  await startBridgeProgram(first);
  expect(await startupErrorOf(second)).toMatch(/exit 1.*Another process owns the database/s);
});

test("a missing data directory is created with access for its owner only, and contains Bridge's token", async () => {
  const directory = await temporaryDirectory();
  const dataDir = path.join(directory, "deep/data");
  await startBridgeProgram(directory, { BRIDGE_DATA_DIR: dataDir });
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  expect(await readdir(dataDir)).toEqual(expect.arrayContaining(["bridge.db", "data-directory.lock", "token"]));
});

test.each([
  ["BRIDGE_DATA_DIR", "/proc/bridge"],
  ["BRIDGE_DATABASE_URL", "sqlite:/proc/bridge/bridge.db"],
])("an unusable %s=%s stops the start with an error message", async (name, value) => {
  expect(await startupErrorOf(await temporaryDirectory(), { [name]: value })).toMatch(new RegExp(`exit 1.*${name} cannot be`, "s"));
});
