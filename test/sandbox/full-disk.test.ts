import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { askUntil } from "../support/until.ts";

/** Starts Bridge with its database on a file system of 8 MiB, which only Bridge sees. */
async function startOnSmallDisk(dataDir: string, environment: Record<string, string>) {
  const disk = path.join(dataDir, "disk");
  mkdirSync(disk);
  const mount = 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"';
  const wrapper = ["/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", mount, disk];
  const bridge = await startBridgeProgram(
    dataDir,
    { BRIDGE_DATABASE_URL: `sqlite:${path.join(disk, "bridge.db")}`, BRIDGE_SANDBOX: "off", ...environment },
    onTestFinished,
    { wrapper },
  );
  return { bridge, filler: path.join(`/proc/${bridge.pid}/root`, disk, "filler") };
}

/** Writes a file until the disk has no free byte. */
function fill(filler: string): void {
  const file = openSync(filler, "a");
  try {
    for (let length = 65_536; length >= 1; ) {
      try {
        if (writeSync(file, Buffer.alloc(length)) < length) length >>= 4;
      } catch (error) {
        expect(error).toMatchObject({ code: "ENOSPC" });
        length >>= 4;
      }
    }
  } finally {
    closeSync(file);
  }
}

const countOf = async (bridge: BridgeProgram, metric: string): Promise<number> => {
  const text = await (await bridge.call("GET", "/metrics")).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${metric} `))
      ?.split(" ")[1],
  );
};

test("on a full disk, dispatches are rejected, and tasks and callbacks are completed without a restart when there is space", async () => {
  const dataDir = await temporaryDirectory();
  const { posts, origin, close } = await startReceiver();
  onTestFinished(close);
  const gate = path.join(dataDir, "gate");
  const { bridge, filler } = await startOnSmallDisk(dataDir, {
    ...shellCommand(`while [ ! -e ${gate} ]; do sleep 0.05; done; echo finished`),
    BRIDGE_MAX_CONCURRENT: "2",
  });
  for (const taskId of ["running-1", "running-2", "queued"])
    expect((await dispatchTask(bridge, { taskId, agentId: taskId, message: "m", callbackUrl: `${origin}/${taskId}` })).status).toBe(202);
  await taskInState(bridge, "running-2", "running");
  const tries: string[] = [];

  fill(filler);
  // The write-ahead log can have room for some more commits.
  const rejected = await askUntil(
    async () => {
      const taskId = `more-${tries.length}`;
      const answer = await dispatchTask(bridge, { taskId, agentId: "a", message: "m".repeat(100_000) });
      if (answer.status === 202) tries.push(taskId);
      return answer;
    },
    ({ status }) => status !== 202,
  );
  expect(rejected.status).toBe(503);
  expect(await rejected.json()).toMatchObject({ code: "storage_unavailable" });
  expect((await bridge.call("GET", "/readyz")).status).toBe(503);
  expect((await bridge.call("GET", "/healthz")).status).toBe(200);
  expect(await countOf(bridge, "bridge_storage_faults_total")).toBeGreaterThan(0);
  expect(await countOf(bridge, 'bridge_disk_free_bytes{directory="database"}')).toBe(0);
  // What is stored can be read.
  expect(await (await bridge.call("GET", "/api/v2/tasks/running-1")).json()).toMatchObject({ state: "running" });

  // The runtimes end while nothing can be stored.
  writeFileSync(gate, "");
  const waiting = async () => bridge.log.filter(({ msg }) => msg === "database read or write failed").length;
  await expect.poll(waiting).toBeGreaterThan(0);
  expect(posts.filter((post) => post.path === "/queued")).toEqual([]);

  rmSync(filler);
  for (const taskId of ["running-1", "running-2", "queued", ...tries])
    expect(await taskInState(bridge, taskId, "completed")).toMatchObject({ result: { output: "finished\n" } });
  await expect.poll(() => posts.map((post) => post.path).toSorted()).toEqual(["/queued", "/running-1", "/running-2"]);
  await askUntil(
    () => bridge.call("GET", "/readyz"),
    ({ status }) => status === 200,
  );
  expect((await dispatchTask(bridge, { taskId: "afterwards", agentId: "a", message: "m" })).status).toBe(202);
  await taskInState(bridge, "afterwards", "completed");
  // A rejected task was not stored, and its id is free.
  const again = { taskId: `more-${tries.length}`, agentId: "a", message: "another" };
  expect((await dispatchTask(bridge, again)).status).toBe(202);
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
});
