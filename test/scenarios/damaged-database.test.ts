import path from "node:path";
import { expect, test } from "vitest";
import { damageMiddle, fillDatabase } from "../store/engines/sqlite/damaged-file.ts";
import { dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Larger than the part that Bridge checks before the start, and larger than SQLite's cache. */
const LARGE_TASKS = 9_000;
/** Several tasks of a large database, so that pages of the table are among them, and not only the rest of one long text. */
const LARGE_DAMAGE_BYTES = 64 * 1024;

async function stoppedBridge(tasks: number): Promise<{ dataDir: string; file: string }> {
  const dataDir = await temporaryDirectory();
  const bridge = await startBridgeProgram(dataDir);
  bridge.signal("SIGTERM");
  await bridge.exited;
  const file = path.join(dataDir, "bridge.db");
  fillDatabase(file, "default", tasks);
  return { dataDir, file };
}

test("Bridge refuses to start on a damaged database, with instructions to restore it", async () => {
  const { dataDir, file } = await stoppedBridge(200);
  damageMiddle(file);
  const refusal = await startBridgeProgram(dataDir).then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(refusal).toMatch(/exit 1: .*is damaged: .*Restore a backup: .*brg db restore /s);
  expect(refusal).not.toContain("    at ");
});

test("on a large damaged database Bridge is not ready, rejects dispatches, logs the damage once and shuts down gracefully", async () => {
  const { dataDir, file } = await stoppedBridge(LARGE_TASKS);
  damageMiddle(file, LARGE_DAMAGE_BYTES);
  const bridge = await startBridgeProgram(dataDir);
  await expect.poll(async () => (await bridge.call("GET", "/readyz")).status, { timeout: 15_000 }).toBe(503);
  expect(await (await bridge.call("GET", "/readyz")).json()).toMatchObject({
    code: "storage_unavailable",
    detail: expect.stringContaining("damaged"),
  });
  const refused = await dispatchTask(bridge, { agentId: "a", message: "work" });
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "storage_unavailable"]);
  expect((await bridge.call("GET", "/healthz")).status).toBe(200);

  // Reads of intact pages succeed, reads of damaged pages are rejected, and neither fills the log.
  expect((await bridge.call("GET", "/api/v2/tasks/filler-0")).status).toBe(200);
  const statuses = new Set<number>();
  for (let task = 4_400; task < 4_600; task += 1) statuses.add((await bridge.call("GET", `/api/v2/tasks/filler-${task}`)).status);
  expect(statuses).toContain(503);
  // SQLite does not detect every damaged page inside a long text. Such a text results in an internal error.
  const faults = () => bridge.log.filter(({ level, msg }) => Number(level) >= 50 && msg !== "request failed");
  await expect.poll(() => faults().map(({ msg }) => msg)).toEqual(["database is damaged; new tasks are rejected"]);
  expect(JSON.stringify(bridge.log.filter(({ msg }) => msg === "request failed"))).not.toContain("malformed");
  expect(faults()[0]?.["remedy"]).toContain("Restore a backup");
  const metrics = await (await bridge.call("GET", "/metrics")).text();
  expect(Number(/^bridge_storage_faults_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);

  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
});

test("Bridge is not ready after a read finds a page that was damaged at run time, and running tasks end", async () => {
  const { dataDir, file } = await stoppedBridge(LARGE_TASKS);
  const bridge = await startBridgeProgram(dataDir, {
    BRIDGE_COMMAND: JSON.stringify(["/bin/sh", "-c", "until [ -e go ]; do sleep 0.1; done"]),
  });
  await expect.poll(async () => (await bridge.call("GET", "/readyz")).status, { timeout: 15_000 }).toBe(200);
  expect((await dispatchTask(bridge, { taskId: "running", agentId: "a", message: "work" })).status).toBe(202);
  await taskInState(bridge, "running", "running");
  damageMiddle(file, LARGE_DAMAGE_BYTES);
  const readAround = async (): Promise<boolean> => {
    for (let task = 4_400; task < 4_600; task += 1)
      if ((await bridge.call("GET", `/api/v2/tasks/filler-${task}`)).status === 503) return true;
    return false;
  };
  expect(await readAround()).toBe(true);
  await expect.poll(async () => (await bridge.call("GET", "/readyz")).status, { timeout: 15_000 }).toBe(503);
  const refused = await dispatchTask(bridge, { taskId: "late", agentId: "a", message: "work" });
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "storage_unavailable"]);
  expect((await bridge.call("POST", "/api/v2/tasks/running/cancel")).status).toBe(202);
  await taskInState(bridge, "running", "cancelled");
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
});
