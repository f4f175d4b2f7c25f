import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { type ClientRequest, get } from "node:http";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Enough for Bridge and some tasks, and few enough to exhaust. */
const OPEN_FILES = 128;

test("clients that open connections without end do not stop Bridge: running tasks complete, and new ones are accepted afterwards", async () => {
  const dataDir = await temporaryDirectory();
  const end = path.join(dataDir, "end");
  const script = `setsid sleep 300 & until [ -e ${end} ]; do sleep 0.05; done; echo done`;
  const bridge = await startBridgeProgram(dataDir, shellCommand(script), onTestFinished, { openFiles: OPEN_FILES });
  expect((await dispatchTask(bridge, { taskId: "t1", agentId: "a", message: "m" })).status).toBe(202);
  await taskInState(bridge, "t1", "running");

  const token = readFileSync(path.join(dataDir, "token"), "utf8").trim();
  const streams: ClientRequest[] = [];
  const open = async (): Promise<string> => {
    const request = get(`${bridge.url}/api/events`, { agent: false, headers: { authorization: `Bearer ${token}` } });
    streams.push(request);
    return await new Promise((resolve) => {
      request.on("error", () => resolve("closed"));
      request.on("response", (answer) => {
        answer.on("error", () => {}).resume();
        resolve(String(answer.statusCode));
      });
    });
  };
  const statuses: string[] = [];
  for (let number = 0; number < 2 * OPEN_FILES; number += 1) statuses.push(await open());
  expect(statuses).toContain("200");
  expect(statuses).toContain("503");
  expect(readdirSync(`/proc/${bridge.pid}/fd`).length).toBeLessThan(OPEN_FILES);
  expect((await fetch(`${bridge.url}/healthz`)).status).toBe(200);

  await writeFile(end, "");
  // The child process has left the session, so Bridge needs descriptors to find it at the end of the task.
  await expect.poll(() => bridge.log.find(({ msg }) => msg === "task ended"), { timeout: 15_000 }).toMatchObject({ state: "completed" });
  for (const stream of streams) stream.destroy();
  expect(await taskInState(bridge, "t1", "completed")).toMatchObject({ result: { output: "done\n" } });
  expect((await dispatchTask(bridge, { taskId: "t2", agentId: "a", message: "m" })).status).toBe(202);
  await taskInState(bridge, "t2", "completed");
});
