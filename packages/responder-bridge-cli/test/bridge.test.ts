import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { until } from "../../../test/support/until.ts";
import { listTool, writeTool } from "../../responder-bridge/test/tools.ts";
import { startRb } from "./start-rb.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

/** Runs rb with an agent of a Bridge that echoes its message. The tool requires the given words in the document. */
async function start(words: string[], args: string[], env: Record<string, string> = {}) {
  const directory = await temporaryDirectory();
  const tool = await writeTool(directory, listTool(words).replace("...items]", "]"));
  const common = ["run", "--tool", tool.join(" "), "--describe", "echo", "--provider", "bridge", "--out", "out"];
  const rb = startRb(directory, [...common, ...args], { BRIDGE_URL: bridge.url, BRIDGE_TOKEN: "secret-alpha", ...env });
  return { rb, directory, read: (name: string) => readFile(path.join(directory, "out", name), "utf8") };
}

const tasksOf = async (agentId: string) =>
  (await bridge.call("GET", `/api/v2/tasks?agentId=${agentId}`)).body.data as { taskId: string; state: string; provider: string }[];

test("the bridge provider dispatches one task for each iteration", async () => {
  const { rb, read } = await start(["Do not reduce enumeration."], ["--runtime", "memory", "--agent", "writer-1", "--model", "small"]);
  expect(await rb).toMatchObject({
    exitCode: 0,
    stdout: "out/final/final.md",
    stderr: [
      "iteration 1 of 3: waiting for bridge small",
      "iteration 1 of 3: not valid",
      "iteration 2 of 3: waiting for bridge small",
      "iteration 2 of 3: valid",
    ].join("\n"),
  });
  expect(JSON.parse(await read("meta.json"))).toMatchObject({ provider: "bridge", model: "small", ok: true, iterations: 2 });
  expect(await read("final/final.md")).toContain("About echo");
  expect(await tasksOf("writer-1")).toMatchObject([
    { state: "completed", provider: "memory" },
    { state: "completed", provider: "memory" },
  ]);
});

test.each<[string, string[], Record<string, string>, RegExp]>([
  ["an unknown adapter", ["--runtime", "nobody"], {}, /not a loaded adapter\. Loaded adapters: memory/],
  ["an adapter that is offline", ["--runtime", "absent"], {}, /offline|not installed/i],
  ["an invalid agent id", ["--runtime", "memory", "--agent", "a b"], {}, /agentId: must be 1 to 128/],
  ["a wrong token", ["--runtime", "memory"], { BRIDGE_TOKEN: "wrong" }, /token/i],
  ["an address without a Bridge", ["--url", "nowhere"], {}, /nowhere|address|URL/],
])("the bridge provider reports %s", async (_, args, env, words) => {
  const { rb } = await start(["x"], args, env);
  const { exitCode, stderr } = await rb;
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(words) });
  expect(stderr).toMatch(/^(iteration 1 of 3: waiting for bridge.*\n)?rb: .+$/);
});

test("stopping rb cancels the task", async () => {
  // The in-memory adapter waits only for the message `wait`, so here the task waits in the queue.
  const held = await bridge.dispatch({ provider: "narrow", message: "wait" });
  const { rb } = await start(["x"], ["--runtime", "narrow", "--agent", "writer-2"]);
  expect(await until(async () => (await tasksOf("writer-2")).length === 1, 15_000)).toBe(true);
  rb.kill("SIGINT");
  expect(await rb).toMatchObject({ exitCode: 2, stderr: "iteration 1 of 3: waiting for bridge\nrb: Stopped by SIGINT." });
  expect(await tasksOf("writer-2")).toMatchObject([{ state: "cancelled" }]);
  await bridge.call("POST", `/api/v2/tasks/${held.body.taskId}/cancel`);
});
