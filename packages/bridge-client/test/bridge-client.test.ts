import { type BridgeClient, type BridgeEvent, createBridgeClient } from "bridge-client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

let bridge: Bridge;
let client: BridgeClient;
beforeAll(async () => {
  bridge = await startBridge();
  client = createBridgeClient({ url: bridge.url, token: "secret-alpha", retryDelayMs: 5 });
});
afterAll(() => bridge.close());

/** An agent that leaves two files in its workspace. */
const writer = `const { mkdirSync, writeFileSync } = require("node:fs");
  mkdirSync("notes");
  writeFileSync("notes/50% done?.txt", "f\u00fcnf Worte");
  writeFileSync("plain.txt", "plain");`;

const task = { provider: "memory", agentId: "writer", message: "Hello." };

type DataOf<Type extends BridgeEvent["type"]> = Extract<BridgeEvent, { type: Type }>["data"];

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("run resolves when the task has ended", async () => {
  const done = await client.run({ ...task, taskId: "run-1", metadata: { order: 7 } });
  expect(done).toMatchObject({ taskId: "run-1", state: "completed", result: { status: "ok", output: "Hello." }, metadata: { order: 7 } });
  expect(await client.getTask("run-1")).toEqual(done);
  expect(await client.waitForTask("run-1")).toEqual(done);
});

test("a failed task resolves with its result", async () => {
  expect(await client.run({ ...task, message: "fail" })).toMatchObject({ state: "failed", result: { errorCode: "model_error" } });
});

test("a repeated dispatch returns the same task; a different dispatch with its id is a conflict", async () => {
  const { replayed, ...first } = await client.dispatch({ ...task, taskId: "same-1" });
  expect(replayed).toBe(false);
  const ended = await client.waitForTask("same-1");
  expect(await client.dispatch({ ...task, taskId: "same-1" })).toEqual({ ...first, state: ended.state, replayed: true });
  await expect(client.dispatch({ ...task, taskId: "same-1", message: "Other." })).rejects.toMatchObject({
    code: "task_conflict",
    status: 409,
  });
});

test("cancel ends a running task and does not change an ended one", async () => {
  const { taskId } = await client.dispatch({ ...task, message: "wait" });
  const waiting = client.waitForTask(taskId);
  await client.cancel(taskId);
  expect(await waiting).toMatchObject({ state: "cancelled", result: { errorCode: "cancelled" } });
  expect(await client.cancel(taskId)).toEqual({ taskId, state: "cancelled" });
});

test("getTask waits for the end of a task in one request, and deleteTask deletes it", async () => {
  const { taskId } = await client.dispatch({ ...task, message: "wait" });
  const waiting = client.getTask(taskId, { waitSeconds: 20 });
  await expect(client.deleteTask(taskId)).rejects.toMatchObject({ code: "invalid_state", status: 409 });
  await client.cancel(taskId);
  expect(await waiting).toMatchObject({ state: "cancelled" });
  await client.deleteTask(taskId);
  await expect(client.deleteTask(taskId)).rejects.toMatchObject({ code: "not_found" });
  await expect(client.getTask(taskId)).rejects.toMatchObject({ code: "not_found" });
});

test("workspaces writes and deletes files, also with conditions, and lists the workspaces", async () => {
  const { putFile, deleteFile, list } = client.workspaces;
  const made = await putFile("filed", "in/50% done?.txt", "fünf", { mustBeNew: true });
  expect(made).toEqual({ isNew: true, etag: expect.stringMatching(/^".+"$/) });
  await expect(putFile("filed", "in/50% done?.txt", "sechs", { mustBeNew: true })).rejects.toMatchObject({ code: "stale_write" });
  const replaced = await putFile("filed", "in/50% done?.txt", new Uint8Array([0, 255]), { ifMatch: made.etag });
  expect(replaced.isNew).toBe(false);
  await expect(deleteFile("filed", "in/50% done?.txt", { ifMatch: made.etag })).rejects.toMatchObject({ code: "stale_write" });
  await deleteFile("filed", "in/50% done?.txt", { ifMatch: replaced.etag });
  await expect(deleteFile("filed", "in/50% done?.txt")).rejects.toMatchObject({ code: "not_found" });
  await expect(putFile("filed", ".git/config", "")).rejects.toMatchObject({ code: "invalid_request", errors: [{ path: "path" }] });
  await client.run({ ...task, agentId: "filed", files: [{ path: "a.txt", content: "a" }] });
  expect((await collect(list())).find(({ agentId }) => agentId === "filed")).toMatchObject({ kind: "agent", tasks: 1 });
});

test("getServiceInfo returns the service document", async () => {
  expect(await client.getServiceInfo()).toMatchObject({ name: "Bridge", links: { docs: "/docs" } });
});

test("events of a task have the data that their type declares", async () => {
  const { taskId } = await client.dispatch({ ...task, message: "look" });
  const events = await collect(client.events(taskId));
  const dataOf = <Type extends BridgeEvent["type"]>(type: Type) =>
    events.find((event) => event.type === type)?.data as DataOf<Type> | undefined;
  expect(dataOf("execution.started")).toEqual({ agentId: "writer" });
  expect(dataOf("tool.invoked")).toEqual({ toolCallId: "call-1", toolName: "list", input: { path: "." } });
  expect(dataOf("tool.completed")).toEqual({ toolCallId: "call-1", toolName: "list", output: ["a.md"], isError: false });
  expect(dataOf("assistant.text")?.content).toBe("One file.");
  expect(dataOf("execution.completed")).toEqual({
    output: "One file.",
    outputs: { count: 1 },
    usage: expect.objectContaining({ inputTokens: 5 }),
    costUsd: 0.25,
    costSource: "runtime",
    model: "small",
    durationMs: expect.any(Number),
    connection: "in-process",
  } satisfies Required<Omit<DataOf<"execution.completed">, "repository" | "truncated">>);
  expect(await collect(client.events(taskId, { after: events.at(-2)?.id }))).toEqual([events.at(-1)]);
  expect(await collect(client.events(taskId, { after: events.at(-1)?.id }))).toEqual([]);
});

test("events of a filter start after a given event", async () => {
  const first = await client.run({ ...task, agentId: "filtered" });
  const [started] = await collect(client.events(first.taskId));
  const seen: string[] = [];
  for await (const event of client.events({ agentId: "filtered", types: ["execution.completed"] }, { after: started?.id })) {
    seen.push(event.taskId);
    if (seen.length === 2) break;
    await client.dispatch({ ...task, agentId: "filtered", taskId: "filtered-2" });
  }
  expect(seen).toEqual([first.taskId, "filtered-2"]);
});

test("listTasks fetches all pages, newest first", async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `listed-${index}`);
  for (const taskId of ids) await client.dispatch({ ...task, agentId: "lister", taskId });
  const listed = await collect(client.listTasks({ agentId: "lister" }));
  expect(listed.map(({ taskId }) => taskId)).toEqual(ids.toReversed());
  expect(await collect(client.listTasks({ agentId: "nobody" }))).toEqual([]);
});

test("checkDispatch returns what a dispatch would do", async () => {
  expect(await client.checkDispatch(task)).toMatchObject({
    wouldAnswer: 202,
    problem: null,
    task: { provider: "memory", replayed: false },
  });
  const rejected = await client.checkDispatch({ ...task, provider: "unknown" });
  expect(rejected).toMatchObject({ wouldAnswer: 422, problem: { code: "unknown_provider" }, task: null });
});

test("getTaskRequest returns the request of a task", async () => {
  const { taskId } = await client.dispatch({ ...task, metadata: { order: 7 } });
  expect(await client.getTaskRequest(taskId)).toMatchObject({ request: { ...task, taskId, metadata: { order: 7 } }, masked: [] });
});

test("files.diff rejects with the reason for a task without a git work tree", async () => {
  const { taskId } = await client.run(task);
  await expect(client.files.diff(taskId)).rejects.toMatchObject({ code: "invalid_state", message: expect.stringContaining("commit") });
});

test("listAgents returns the agents that have tasks, and checkAdapter checks the health of an adapter", async () => {
  await client.run({ ...task, agentId: "listed-agent" });
  const agents = await collect(client.listAgents());
  expect(agents.find(({ agentId }) => agentId === "listed-agent")).toMatchObject({ provider: "memory", tasks: 1 });
  expect(await client.checkAdapter("memory")).toMatchObject({ provider: "memory", health: { status: "healthy" } });
  await expect(client.checkAdapter("unknown")).rejects.toMatchObject({ code: "not_found" });
});

test("callbacks are listed with their attempts, and redelivered one by one or all of a receiver", async () => {
  let isBroken = true;
  const receiver = await startReceiver((response) => response.writeHead(isBroken ? 500 : 200).end("answer"));
  onTestFinished(receiver.close);
  const stateOf = async (taskId: string) => (await client.callbacks.get(taskId)).state;
  for (const taskId of ["called-1", "called-2", "called-3"]) {
    await client.run({ ...task, taskId, callbackUrl: receiver.origin });
    await expect.poll(() => stateOf(taskId)).toBe("dead");
  }
  const dead = await collect(client.callbacks.list({ state: "dead" }));
  expect(dead.map(({ taskId }) => taskId)).toEqual(["called-3", "called-2", "called-1"]);
  isBroken = false;
  expect(await client.callbacks.redeliver("called-1")).toMatchObject({ taskId: "called-1", attempts: 1 });
  await expect.poll(() => stateOf("called-1")).toBe("delivered");
  await expect(client.callbacks.redeliver("called-1")).rejects.toMatchObject({ code: "already_delivered" });
  expect(await client.callbacks.redeliverAll(receiver.origin)).toBe(2);
  await expect.poll(() => stateOf("called-3")).toBe("delivered");
  expect((await client.callbacks.get("called-3")).history).toMatchObject([
    { status: 500, response: "answer" },
    { status: 200, response: "answer" },
  ]);
});

test("getStats returns the cost, tokens and numbers of tasks", async () => {
  await client.run({ ...task, agentId: "counted-agent", message: "look" });
  const { total, data } = await client.getStats({ by: "agent", limit: 100 });
  expect(total.tasks).toBeGreaterThan(0);
  expect(data.find(({ key }) => key === "counted-agent")).toMatchObject({ completed: 1, costUsd: 0.25, inputTokens: 5 });
  expect((await client.getStats()).window).toBe("24h");
});

test("getIdentity returns the tenant and the scopes of the token", async () => {
  expect(await client.getIdentity()).toMatchObject({ tenant: "alpha", scopes: expect.arrayContaining(["read"]), expiresAt: null });
});

test("listAdapters returns the adapters", async () => {
  const adapters = await collect(client.listAdapters());
  expect(adapters.map(({ provider }) => provider)).toEqual(["memory", "narrow", "absent"]);
  expect(adapters[2]?.health).toMatchObject({ status: "offline" });
});

test("listDomains returns all pages of domains, those of a workspace, and the faults of its settings", async () => {
  const builtIn = await client.listDomains();
  expect(builtIn).toMatchObject({
    domains: expect.arrayContaining([expect.objectContaining({ source: "built-in" })]),
    settingsFault: null,
  });
  const custom_domains = Array.from({ length: 50 }, (_, index) => ({ name: `d${index}`, ...(index > 0 && { signals: [] }) }));
  await client.workspaces.putFile("council", ".bridge-settings.json", JSON.stringify({ custom_domains }));
  const { domains, settingsFault } = await client.listDomains("council");
  expect(domains.map(({ name }) => name)).toEqual([...custom_domains.slice(1), ...builtIn.domains].map(({ name }) => name));
  expect(settingsFault).toContain("custom_domains.0 defines only a name");
});

test("createTicket creates a ticket with all or some scopes of the token", async () => {
  for (const request of [undefined, { scopes: ["read"] as const }])
    expect(await client.createTicket(request)).toEqual({ ticket: expect.stringMatching(/^tkt_/), expiresAt: expect.any(String) });
  await expect(client.createTicket({ scopes: [] })).rejects.toMatchObject({ code: "invalid_request" });
});

test("approvals decides a pending tool call", async () => {
  const { taskId } = await client.dispatch({ ...task, message: "ask", approvals: "ask", profile: "modify" });
  const seen: BridgeEvent[] = [];
  for await (const event of client.events(taskId)) {
    seen.push(event);
    if (event.type !== "tool.approval_requested") continue;
    const [waiting] = await collect(client.approvals.list({ state: "pending" }));
    const { approvalId, toolCallId, toolName, input, expiresAt } = event.data;
    expect(waiting).toMatchObject({ approvalId, taskId, toolCallId, toolName, input, expiresAt });
    const decided = await client.approvals.decide(approvalId, "reject", "Too risky.");
    expect(decided).toMatchObject({ approvalId, state: "rejected", decidedBy: "alpha", reason: "Too risky." });
    await expect(client.approvals.decide(approvalId, "approve")).rejects.toMatchObject({ code: "already_decided" });
  }
  expect(seen.find(({ type }) => type === "tool.approval_resolved")?.data).toEqual({
    approvalId: expect.any(String),
    kind: "tool",
    toolCallId: "call-1",
    decision: "reject",
    by: "alpha",
    reason: "Too risky.",
  } satisfies Omit<DataOf<"tool.approval_resolved">, "truncated">);
  expect(await collect(client.approvals.list({ state: "pending" }))).toEqual([]);
});

test("approvals raises the maximum of a task", async () => {
  const { taskId } = await client.dispatch({ ...task, message: "spend", budget: { maxCostUsd: 0.5, onReached: "ask" } });
  const seen: BridgeEvent[] = [];
  for await (const event of client.events(taskId)) {
    seen.push(event);
    if (event.type !== "tool.approval_requested") continue;
    const { approvalId, kind, input } = event.data;
    expect({ kind, input }).toEqual({
      kind: "budget",
      input: { spentUsd: 0.6, maxCostUsd: 0.5, spentTokens: 600, maxTokens: null },
    });
    const decided = await client.approvals.decide(approvalId, "approve", undefined, { raiseByUsd: 0.25 });
    expect(decided).toMatchObject({ approvalId, kind: "budget", state: "approved", raiseByUsd: 0.25 });
  }
  expect(seen.find(({ type }) => type === "tool.approval_resolved")?.data).toMatchObject({ kind: "budget", raiseByUsd: 0.25 });
  expect(await client.getTask(taskId)).toMatchObject({ state: "completed", result: { output: "allowed" } });
});

test("files lists and downloads the files of a task", async () => {
  const workspaces = await temporaryDirectory();
  const settings = { BRIDGE_WORKSPACES_DIR: workspaces, BRIDGE_COMMAND: JSON.stringify([process.execPath, "-e", writer]) };
  const commanding = await startBridge(settings, { adapters: [{ provider: "command", adapter: createCommandAdapter() }] });
  onTestFinished(() => commanding.close());
  const { files: left, run } = createBridgeClient({ url: commanding.url, token: "secret-alpha" });
  const { taskId } = await run({ provider: "command", agentId: "writer", message: "Write." });
  const { files, truncated } = await left.list(taskId);
  expect({ paths: files.map(({ path, bytes }) => [path, bytes]), truncated }).toEqual({
    paths: [
      ["notes/50% done?.txt", 11],
      ["plain.txt", 5],
    ],
    truncated: false,
  });
  expect(await (await left.download(taskId, "notes/50% done?.txt")).text()).toBe("f\u00fcnf Worte");
  await expect(left.download(taskId, "missing.txt")).rejects.toMatchObject({ code: "not_found", status: 404 });
});

test("an error contains the reason and the request id", async () => {
  const error = await client.dispatch({ ...task, agentId: "no such name!" }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "invalid_request", status: 400, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  expect(error).toMatchObject({ errors: [{ path: "agentId", message: expect.stringContaining("must be") }] });
  const otherTenant = createBridgeClient({ url: bridge.url, token: "secret-beta" });
  await client.run({ ...task, taskId: "hidden" });
  await expect(otherTenant.getTask("hidden")).rejects.toMatchObject({ code: "not_found" });
});
