import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { git } from "../repositories/open-repositories.ts";
import { type BridgeApp, startBridgeApp } from "../support/bridge-app.ts";
import { dispatchTask, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTreeSettings, listTrees } from "./tree-repository.ts";

const task = { agentId: "agent", provider: "command", profile: "modify", repository: { name: "web" } };

interface ShownTask {
  state: string;
  repository: Record<string, unknown>;
  result: { repository: Record<string, unknown>; error?: string; attempts?: { provider: string }[]; output?: string };
}
const ended = async (bridge: BridgeApp, taskId: string, state = "completed") =>
  (await taskInState(bridge, taskId, state)) as unknown as ShownTask;
const patchOf = async (bridge: BridgeApp, taskId: string) => (await bridge.call("GET", `/api/v2/tasks/${taskId}/patch`)).text();
const diffOf = async (bridge: BridgeApp, taskId: string) =>
  ((await (await bridge.call("GET", `/api/v2/tasks/${taskId}/diff`)).json()) as { diff: string }).diff;

async function start(fields: Record<string, unknown> = {}, more: Record<string, string> = {}) {
  const dataDir = await temporaryDirectory();
  const { settings, ...source } = createTreeSettings(dataDir, fields);
  return { ...source, dataDir, bridge: await startBridgeApp(dataDir, { ...settings, ...more }) };
}

/** A task that waits for the test: its message reports that it has started, and then waits. */
function createGate(dataDir: string, name: string) {
  const [started, go] = ["started", "go"].map((part) => path.join(dataDir, `${name}-${part}`)) as [string, string];
  execFileSync("mkfifo", [started, go]);
  return {
    fifo: started,
    message: `echo > ${started}; read -r x < ${go}`,
    started: () => readFile(started),
    open: () => writeFile(go, "\n"),
  };
}
describe("work trees", () => {
  test("two tasks of one agent edit the same file at once, and both changes are whole", async () => {
    const { bridge, dataDir, head, source } = await start();
    const gates = ["a", "b"].map((name) => createGate(dataDir, name));
    for (const [index, { message }] of gates.entries()) {
      const answer = await dispatchTask(bridge, {
        ...task,
        taskId: `edit-${index}`,
        message: `echo edit-${index} > notes.txt; ${message}`,
      });
      expect(answer.status).toBe(202);
      expect(await answer.json()).toMatchObject({
        repository: { name: "web", ref: expect.any(String), branch: `bridge/edit-${index}`, baseCommit: head },
      });
    }
    for (const { started } of gates) await started();
    expect(await diffOf(bridge, "edit-0")).toContain("+edit-0");
    const early = await bridge.call("GET", "/api/v2/tasks/edit-0/patch");
    expect([early.status, await early.json()]).toMatchObject([
      409,
      { code: "invalid_state", detail: "The task has not ended. /patch is available after its end; /diff already while it runs." },
    ]);
    for (const { open } of gates) await open();
    for (const index of [0, 1]) {
      const { repository, result } = await ended(bridge, `edit-${index}`);
      expect(repository).toMatchObject({
        branch: `bridge/edit-${index}`,
        baseCommit: head,
        commits: 1,
        files: 1,
        insertions: 1,
        deletions: 1,
      });
      expect(result.repository).toMatchObject({ headCommit: repository["headCommit"], pushed: false, conflicts: null });
      expect(await diffOf(bridge, `edit-${index}`)).toContain(`-first\n+edit-${index}\n`);
      const checkout = path.join(dataDir, `checkout-${index}`);
      git(dataDir, "clone", "--quiet", source, checkout);
      writeFileSync(path.join(checkout, "task.patch"), await patchOf(bridge, `edit-${index}`));
      git(checkout, "am", "--quiet", "task.patch");
      expect(git(checkout, "show", "HEAD:notes.txt")).toBe(`edit-${index}`);
    }
    await expect.poll(() => listTrees(dataDir)).toEqual([]);
    const listed = (await (await bridge.call("GET", "/api/v2/repositories")).json()) as { data: unknown[] };
    expect(listed.data).toMatchObject([{ name: "web", push: false, branches: [{ name: "bridge/edit-0" }, { name: "bridge/edit-1" }] }]);
  });

  test("a task that resumes another one continues on its branch, and any other task gets 409", async () => {
    const { bridge } = await start();
    const repository = { name: "web", branch: "topic" };
    await dispatchTask(bridge, { ...task, taskId: "first", repository, message: "echo one >> notes.txt" });
    const first = await ended(bridge, "first");
    const refused = await dispatchTask(bridge, { ...task, taskId: "other", repository, message: "true" });
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { code: "invalid_state", errors: [{ path: "repository.branch", message: expect.stringContaining("first") }] },
    ]);
    const second = { ...task, taskId: "second", repository, resumeToken: "session", message: "echo two >> notes.txt" };
    expect(await (await dispatchTask(bridge, second)).json()).toMatchObject({
      repository: { branch: "topic", baseCommit: first.repository["headCommit"] },
    });
    await ended(bridge, "second");
    expect(await diffOf(bridge, "second")).toContain(" one\n+two");
    const { request } = (await (await bridge.call("GET", "/api/v2/tasks/second/request")).json()) as { request: object };
    expect(request).toMatchObject({ repository: { name: "web", ref: expect.any(String), branch: "topic", keep: "branch", push: false } });
    expect(JSON.stringify(request)).not.toContain("continuesBranch");
    expect(await diffOf(bridge, "first")).toContain("+one");
    const again = await dispatchTask(bridge, second);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
  });

  test("a child edits in the tree of its parent", async () => {
    const { bridge } = await start();
    await dispatchTask(bridge, { ...task, provider: "editing", taskId: "parent", message: "parent" });
    const { result } = await ended(bridge, "parent");
    expect(result.output).toBe("ok");
    expect(await diffOf(bridge, "parent")).toContain("+parent\n+child");
  });

  test.for([
    ["ends without waiting for its child", false],
    ["is canceled", true],
  ] as const)("the changes of a task that %s contain the last edit of the child, which ends first", async ([, waits]) => {
    const { bridge, dataDir } = await start();
    const { fifo } = createGate(dataDir, "child");
    const child = `trap 'sleep 0.3; echo last >> notes.txt; exit 1' TERM; echo > ${fifo}; sleep 60 & wait`;
    await dispatchTask(bridge, { ...task, provider: "editing", taskId: "parent", message: JSON.stringify({ child, fifo, waits }) });
    if (waits) {
      await expect.poll(async () => (await bridge.call("GET", "/api/v2/tasks/parent/events")).text()).toContain("The child works.");
      await bridge.call("POST", "/api/v2/tasks/parent/cancel");
    }
    const { result } = await ended(bridge, "parent", waits ? "cancelled" : "completed");
    expect(result.repository).toMatchObject({ commits: 1, insertions: 1 });
    expect(await diffOf(bridge, "parent")).toContain("+last\n");
    await expect.poll(() => listTrees(dataDir)).toEqual([]);
  });

  test("another adapter begins in a new tree after an attempt that has edited its tree has failed", async () => {
    const { bridge } = await start();
    const fallbacks = [{ provider: "command" }];
    await dispatchTask(bridge, { ...task, provider: "editing", taskId: "moved", message: "fail", fallbacks });
    const { result } = await ended(bridge, "moved", "failed");
    expect(result.attempts?.map(({ provider }) => provider)).toEqual(["editing", "command"]);
    // The second attempt runs the message `fail` as a command that does not exist.
    expect(result.repository).toMatchObject({ commits: 0, files: 0 });
  });

  test("changes of tasks that fail or are canceled are kept, and of none with keep none", async () => {
    const { bridge, dataDir } = await start();
    const gate = createGate(dataDir, "gate");
    await dispatchTask(bridge, { ...task, taskId: "failed", message: "echo failed >> notes.txt; exit 3" });
    await dispatchTask(bridge, { ...task, taskId: "canceled", message: `echo canceled >> notes.txt; ${gate.message}` });
    await dispatchTask(bridge, { ...task, taskId: "none", repository: { name: "web", keep: "none" }, message: "echo none >> notes.txt" });
    await gate.started();
    await bridge.call("POST", "/api/v2/tasks/canceled/cancel");
    expect(await ended(bridge, "failed", "failed")).toMatchObject({ repository: { insertions: 1 } });
    expect(await ended(bridge, "canceled", "cancelled")).toMatchObject({ repository: { insertions: 1 } });
    for (const taskId of ["failed", "canceled"]) expect(await diffOf(bridge, taskId)).toContain(`+${taskId}`);
    await ended(bridge, "none");
    const answers = await Promise.all(["diff", "patch"].map((what) => bridge.call("GET", `/api/v2/tasks/none/${what}`)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    await expect.poll(() => listTrees(dataDir)).toEqual([]);
  });

  test("a task that is canceled in the queue frees its branch", async () => {
    const { bridge, dataDir } = await start({}, { BRIDGE_MAX_CONCURRENT: "1" });
    const gate = createGate(dataDir, "gate");
    await dispatchTask(bridge, { ...task, taskId: "busy", message: gate.message });
    await gate.started();
    const repository = { name: "web", branch: "topic" };
    await dispatchTask(bridge, { ...task, taskId: "queued", repository, message: "true" });
    await bridge.call("POST", "/api/v2/tasks/queued/cancel");
    expect(await ended(bridge, "queued", "cancelled")).toMatchObject({ repository: { headCommit: null, commits: 0 } });
    await gate.open();
    expect((await dispatchTask(bridge, { ...task, taskId: "next", repository, message: "true" })).status).toBe(202);
    await ended(bridge, "next");
  });

  test("the output of setup is reported, and its failure fails the task with the last lines", async () => {
    const { bridge, dataDir } = await start({ setup: ["/bin/sh", "-c", "echo installing; test ! -e broken"] });
    await dispatchTask(bridge, { ...task, taskId: "ready", message: "test -e notes.txt" });
    await ended(bridge, "ready");
    const { data } = (await (await bridge.call("GET", "/api/v2/tasks/ready/events")).json()) as { data: { type: string; data: unknown }[] };
    expect(data).toContainEqual(expect.objectContaining({ type: "execution.progress", data: { setup: "installing" } }));
    await writeFile(
      path.join(dataDir, "repositories.json"),
      JSON.stringify([{ name: "web", source: path.join(dataDir, "source"), setup: ["/bin/sh", "-c", "echo no network; exit 4"] }]),
    );
    await expect.poll(() => bridge.log.some(({ msg }) => msg === "repositories file reloaded")).toBe(true);
    await dispatchTask(bridge, { ...task, taskId: "broken", message: "true" });
    expect((await ended(bridge, "broken", "failed")).result).toMatchObject({
      errorCode: "adapter_error",
      error: expect.stringContaining("no network"),
    });
  });

  test("a queued task has neither a diff nor a patch yet", async () => {
    const { bridge, dataDir } = await start({}, { BRIDGE_AGENT_MAX_RUNNING: "1" });
    const gate = createGate(dataDir, "first");
    await dispatchTask(bridge, { ...task, taskId: "first", message: gate.message });
    await gate.started();
    await dispatchTask(bridge, { ...task, taskId: "queued", message: "true" });
    for (const name of ["diff", "patch"]) {
      const answer = await bridge.call("GET", `/api/v2/tasks/queued/${name}`);
      expect([answer.status, await answer.json()]).toMatchObject([409, { code: "invalid_state" }]);
    }
    await gate.open();
    await ended(bridge, "queued");
  });

  test("/readyz reports how many faults the repositories file has, and no content of it", async () => {
    const { bridge, dataDir } = await start();
    writeFileSync(path.join(dataDir, "repositories.json"), JSON.stringify([{ name: "secret", source: "relative" }]));
    await expect
      .poll(async () => await (await fetch(new URL("/readyz", bridge.url))).json())
      .toEqual({ status: "ok", warnings: ["BRIDGE_REPOSITORIES_FILE: 1 fault(s), previous repositories stay in force"] });
  });

  test("a Bridge without a repositories file rejects a repository with the setting that it lacks", async () => {
    const bridge = await startBridgeApp(await temporaryDirectory(), { BRIDGE_ADAPTERS: "command", BRIDGE_COMMAND: '["/bin/true"]' });
    const answer = await dispatchTask(bridge, { ...task, taskId: "t", message: "true" });
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { code: "unknown_repository", detail: expect.stringContaining("No repositories are configured for your tenant.") },
    ]);
  });

  test("agent.json names a default repository, and a dispatch replaces it", async () => {
    const { bridge, dataDir } = await start();
    const workspace = path.join(dataDir, "workspaces/default/agent");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(path.join(workspace, "agent.json"), JSON.stringify({ repository: { name: "web", keep: "diff", push: true } }));
    const { repository: _, ...plain } = task;
    await dispatchTask(bridge, { ...plain, taskId: "default", message: "echo default >> notes.txt" });
    expect(await ended(bridge, "default")).toMatchObject({ repository: { name: "web", insertions: 1, pushed: false, pushError: null } });
    const unknown = await dispatchTask(bridge, { ...plain, taskId: "named", repository: { name: "wib" }, message: "true" });
    expect([unknown.status, await unknown.json()]).toMatchObject([
      422,
      { code: "unknown_repository", detail: expect.stringContaining("web") },
    ]);
  });

  test("dispatches that ask for what is not there are rejected, also by the check, and reserve nothing", async () => {
    const { bridge } = await start();
    const cases: [Record<string, unknown>, number, string, string?][] = [
      [{ name: "api" }, 422, "unknown_repository"],
      [{ name: "web", ref: "absent" }, 422, "unknown_ref"],
      [{ name: "web", push: true }, 422, "push_refused"],
      [{ name: "web", branch: "main" }, 409, "invalid_state"],
      [{ name: "web", branch: "a..b" }, 400, "invalid_request", "repository.branch"],
      [{ name: "web", branch: "-x" }, 400, "invalid_request", "repository.branch"],
      [{ name: "web", ref: "--upload-pack=x" }, 400, "invalid_request", "repository.ref"],
      [{ name: "web", keep: "diff", push: true }, 400, "invalid_request", "repository.push"],
    ];
    for (const [repository, status, code, at] of cases) {
      const body = { ...task, repository, message: "true" };
      const answer = await dispatchTask(bridge, body);
      const problem = (await answer.json()) as { errors?: { path: string }[] };
      expect([answer.status, problem]).toMatchObject([status, { code }]);
      if (at !== undefined) expect(problem.errors?.map((fault) => fault.path)).toEqual([at]);
      const checked = await (await bridge.call("POST", "/api/v2/dispatch/check", body)).json();
      expect(checked).toMatchObject({ wouldAnswer: status, task: null });
    }
    const checked = await bridge.call("POST", "/api/v2/dispatch/check", {
      ...task,
      repository: { name: "web", branch: "free" },
      message: "true",
    });
    expect(await checked.json()).toMatchObject({ wouldAnswer: 202, task: { repository: { name: "web", branch: "free" } } });
    const repository = { name: "web", branch: "free" };
    expect((await dispatchTask(bridge, { ...task, taskId: "taker", repository, message: "true" })).status).toBe(202);
    await ended(bridge, "taker");
    const { request } = (await (await bridge.call("GET", "/api/v2/tasks/taker/request")).json()) as { request: unknown };
    expect(request).toMatchObject({ repository: { ...repository, keep: "branch", push: false } });
  });

  test("the callback and the last event contain what the task has changed, and files and file outputs are in the tree", async () => {
    const { bridge } = await start();
    const bodies: string[] = [];
    const receiver = createServer((request, response) => {
      request.on("data", (chunk) => bodies.push(String(chunk)));
      request.on("end", () => response.end());
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void receiver.close());
    await once(receiver, "listening");
    const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const files = [{ path: "sub/in.txt", content: "given" }];
    const output = { outputStrategy: { type: "file", path: "out.txt" }, metadata: { cwd: "sub" } };
    await dispatchTask(bridge, { ...task, ...output, taskId: "full", callbackUrl, files, message: "cp in.txt ../out.txt #" });
    const { result } = await ended(bridge, "full");
    expect(result).toMatchObject({ output: "given", repository: { files: 2, insertions: 2 } });
    await expect.poll(() => bodies.join("")).not.toBe("");
    expect(JSON.parse(bodies.join(""))).toMatchObject({ repository: result.repository });
    const { data } = (await (await bridge.call("GET", "/api/v2/tasks/full/events")).json()) as { data: { type: string; data: unknown }[] };
    expect(data.find(({ type }) => type === "execution.completed")?.data).toMatchObject({ repository: result.repository });
  });
});
