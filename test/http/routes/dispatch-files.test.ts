import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";

// The agent runs its message as a shell script, in its workspace.
const agent = `const { message } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  process.stdout.write(require("node:child_process").execFileSync("/bin/sh", ["-c", message]));`;
let bridge: Bridge;
let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  const remote = createInMemoryAdapter({ provider: "remote", run: async () => ({ output: "" }), capabilities: { fileIo: false } });
  bridge = await startBridge(
    {
      BRIDGE_WORKSPACES_DIR: path.join(root, "workspaces"),
      BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", agent]),
      BRIDGE_MAX_CONCURRENT: "1",
    },
    {
      adapters: [
        { provider: "command", adapter: createCommandAdapter() },
        { provider: "remote", adapter: remote },
      ],
    },
  );
});
afterAll(async () => {
  await bridge.close();
  await rm(root, { recursive: true });
});

const fileOf = (agentId: string, name: string) => path.join(root, "workspaces/alpha", agentId, name);
const waited = { headers: { prefer: "wait=20" } };
const run = (fields: Record<string, unknown>) => bridge.dispatch({ provider: "command", message: "true", ...fields }, waited);

test("dispatched files are in the workspace when the task starts, whatever its profile, and a later dispatch replaces them", async () => {
  const files = [
    { path: "in/a.txt", content: "für" },
    { path: "in/b.bin", content: Buffer.from([0, 255, 10]).toString("base64"), encoding: "base64" },
  ];
  const first = await run({ agentId: "a", files, profile: "inspect", message: "cat in/a.txt; wc -c < in/b.bin | tr -d ' \\n'" });
  expect(first.body.result).toMatchObject({ status: "ok", output: "für3" });
  expect((await readFile(fileOf("a", "in/b.bin"))).equals(Buffer.from([0, 255, 10]))).toBe(true);
  const second = await run({ agentId: "a", files: [{ path: "in/a.txt", content: "new" }], message: "cat in/a.txt; ls in" });
  expect(second.body.result.output).toBe("newa.txt\nb.bin\n");
});

test("dispatched files are listed as files of their task", async () => {
  const { body } = await run({ agentId: "listed", files: [{ path: "in.txt", content: "x" }], message: "touch out.txt" });
  const { data } = (await bridge.call("GET", `/api/v2/tasks/${body.taskId}/files`)).body;
  expect(data.map((file: { path: string }) => file.path)).toEqual(["in.txt", "out.txt"]);
});

test("a queued task changes nothing in the workspace of the running task", async () => {
  const flag = path.join(root, "may-end");
  const message = `touch started; while [ ! -e '${flag}' ]; do sleep 0.02; done; cat in.txt`;
  await bridge.dispatch({ provider: "command", agentId: "q", taskId: "first", message, files: [{ path: "in.txt", content: "first" }] });
  await askUntil(async () => existsSync(fileOf("q", "started")), Boolean);
  await bridge.dispatch({
    provider: "command",
    agentId: "q",
    taskId: "second",
    message: "cat in.txt",
    files: [{ path: "in.txt", content: "second" }],
  });
  expect((await bridge.call("GET", "/api/v2/tasks/second")).body.state).toBe("queued");
  expect(await readFile(fileOf("q", "in.txt"), "utf8")).toBe("first");
  await writeFile(flag, "");
  const outputs = [];
  for (const taskId of ["first", "second"]) outputs.push((await bridge.call("GET", `/api/v2/tasks/${taskId}`, waited)).body.result.output);
  expect(outputs).toEqual(["first", "second"]);
});

test("a task can run in a directory that its files create", async () => {
  const files = [{ path: "project/src/a.txt", content: "here" }];
  const { body } = await run({ agentId: "cwd", files, metadata: { cwd: "./project/src" }, message: "cat a.txt" });
  expect(body.result).toMatchObject({ status: "ok", output: "here" });
  for (const cwd of [".", "./", "project/.."])
    expect((await run({ agentId: `cwd-${randomUUID()}`, files, metadata: { cwd }, message: "cat project/src/a.txt" })).status).toBe(200);
  expectProblem(await run({ agentId: "cwd2", files, metadata: { cwd: "proj" } }), "invalid_request");
  expectProblem(await run({ agentId: "cwd2", files, metadata: { cwd: "project/../.." } }), "invalid_request");
});

test("a link in place of a directory fails the task, and nothing outside the workspace is written", async () => {
  const outside = path.join(root, "outside");
  await mkdir(outside);
  await run({ agentId: "linked", message: `ln -s '${outside}' dir; ln -s '${outside}/new' file` });
  const failed = await run({ agentId: "linked", files: [{ path: "dir/planted", content: "x" }] });
  expect(failed.body).toMatchObject({
    state: "failed",
    result: { errorCode: "adapter_error", error: expect.stringContaining("dir/planted") },
  });
  expect(JSON.stringify(failed.body)).not.toContain(root);
  expect((await run({ agentId: "linked", files: [{ path: "file", content: "own" }] })).body.state).toBe("completed");
  expect(await readFile(fileOf("linked", "file"), "utf8")).toBe("own");
  for (const name of ["planted", "new"]) expect(existsSync(path.join(outside, name))).toBe(false);
});

test("files for a runtime without a local workspace are rejected, and nothing is written", async () => {
  const refused = await bridge.dispatch({ provider: "remote", agentId: "remote", files: [{ path: "a", content: "" }] });
  expectProblem(refused, "capability_missing");
  expect(refused.body.errors).toEqual([{ path: "files", message: expect.stringContaining("no workspace on this machine") }]);
  expect(existsSync(fileOf("remote", "a"))).toBe(false);
  expect((await bridge.dispatch({ provider: "remote", agentId: "remote", files: [] }, waited)).body.state).toBe("completed");
});

test("invalid files are named in the response, and nothing is stored", async () => {
  const refused = await bridge.dispatch({
    taskId: "faulty",
    provider: "command",
    files: [
      { path: "../a", content: "" },
      { path: ".git/config", content: "" },
    ],
  });
  expectProblem(refused, "invalid_request");
  expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toEqual(["files.0.path", "files.1.path"]);
  expectProblem(await bridge.call("GET", "/api/v2/tasks/faulty"), "not_found");
});
