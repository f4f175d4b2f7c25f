import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../../support/bridge-program.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const ECHO = path.resolve(import.meta.dirname, "../../../examples/adapter/echo-adapter.js");

/** Starts nodes on one new database, each in its own directory, which a second start uses again. */
async function createNodes() {
  const { urlAt, port, query } = await createDatabase({ isEmpty: true });
  const directories = new Map<string, string>();
  async function start(name: string, settings: Record<string, string> = {}): Promise<BridgeProgram> {
    const directory = directories.get(name) ?? (await temporaryDirectory());
    directories.set(name, directory);
    return startBridgeProgram(directory, {
      BRIDGE_DATABASE_URL: urlAt(port),
      BRIDGE_NODE_NAME: name,
      BRIDGE_LEASE_SECONDS: "3",
      BRIDGE_NODE_GRACE_SECONDS: "1",
      ...shellCommand("cat"),
      ...settings,
    });
  }
  return { start, query };
}

interface ListedNode {
  name: string;
  state: string;
  agents: number;
  settingsDiffer: boolean;
  adapters: { provider: string; health: string }[];
}

const listNodes = async (bridge: BridgeProgram): Promise<ListedNode[]> =>
  ((await (await bridge.call("GET", "/api/v2/nodes")).json()) as { data: ListedNode[] }).data;

const statesOf = async (bridge: BridgeProgram) => Object.fromEntries((await listNodes(bridge)).map(({ name, state }) => [name, state]));

const listAdapters = async (bridge: BridgeProgram) =>
  ((await (await bridge.call("GET", "/api/v2/adapters")).json()) as { data: { provider: string; nodes: string[] }[] }).data.map(
    ({ provider, nodes }) => ({ provider, nodes }),
  );

const rejected = async (response: Response) => {
  const { code, detail, errors } = (await response.json()) as { code: string; detail: string; errors?: { path: string }[] };
  return { status: response.status, code, detail, paths: errors?.map((error) => error.path) ?? [] };
};

test("metrics count the hints of other nodes, and show that a node follows the log", async () => {
  const { start } = await createNodes();
  // Long enough for a busy machine: this test ends no node.
  const lease = { BRIDGE_LEASE_SECONDS: "120" };
  const [a, b] = [await start("a", lease), await start("b", lease)];
  await dispatchTask(a, { taskId: "t1", provider: "command", agentId: "writer", message: "go" });
  await taskInState(b, "t1", "completed");
  const metrics = async () => (await b.call("GET", "/metrics")).text();
  await expect.poll(metrics).toMatch(/^bridge_hints_total\{kind="events"\} [1-9]/m);
  await expect.poll(metrics).toMatch(/^bridge_tail_lag_events 0$/m);
});

test("a node accepts tasks for the adapters and tags of other nodes, and reports where they run", async () => {
  const { start } = await createNodes();
  const a = await start("a", { BRIDGE_RETENTION_DAYS: "3" });
  await start("b", { BRIDGE_ADAPTERS: ECHO, BRIDGE_NODE_TAGS: "gpu" });
  await expect
    .poll(() => listAdapters(a))
    .toEqual([
      { provider: "command", nodes: ["a"] },
      { provider: "echo", nodes: ["b"] },
    ]);
  const healthOfEcho = async () => (await listNodes(a)).find(({ name }) => name === "b")?.adapters;
  await expect.poll(healthOfEcho).toMatchObject([{ provider: "echo", health: "healthy" }]);
  expect(await listNodes(a)).toMatchObject([
    { name: "a", state: "live", settingsDiffer: false },
    { name: "b", state: "live", settingsDiffer: true },
  ]);

  expect((await dispatchTask(a, { taskId: "t1", provider: "echo", agentId: "writer", message: "go", runsOn: ["gpu"] })).status).toBe(202);
  expect(await taskInState(a, "t1", "completed")).toMatchObject({ node: "b", queuedBecause: null });
  await expect.poll(async () => (await listNodes(a)).find(({ name }) => name === "b")?.agents).toBe(1);

  const task = { provider: "echo", message: "go" };
  expect(await rejected(await dispatchTask(a, { ...task, agentId: "new", runsOn: ["tpu"] }))).toMatchObject({
    ...{ status: 503, code: "adapter_offline", detail: "No live node with the adapter echo has the tag tpu." },
  });
  expect(await rejected(await dispatchTask(a, { ...task, agentId: "writer", runsOn: ["node:a"] }))).toMatchObject({
    ...{ status: 422, code: "capability_missing", paths: ["runsOn"] },
    detail: "The agent lives on the node b, which lacks the tag node:a.",
  });
  expect(await rejected(await dispatchTask(a, { ...task, agentId: "writer", provider: "command" }))).toMatchObject({
    ...{ status: 503, code: "adapter_offline", detail: "The agent lives on the node b, which does not have the adapter command." },
  });
});

test("nodes whose tokens or quotas differ report different settings, and equal ones again after a change of the file", async () => {
  const { start, query } = await createNodes();
  const directory = await temporaryDirectory();
  const token = { name: "ci", tenant: "team", sha256: hash("sha256", "token"), scopes: ["read"] };
  const writeTokens = async (name: string, fields: object) => {
    const file = path.join(directory, `${name}.json`);
    await writeFile(file, JSON.stringify([{ ...token, ...fields }]));
    return { BRIDGE_TOKENS_FILE: file };
  };
  const a = await start("a", await writeTokens("a", { maxRunning: 2 }));
  await start("b", await writeTokens("b", { maxRunning: 2 }));
  const differing = async () => (await listNodes(a)).flatMap(({ name, settingsDiffer }) => (settingsDiffer ? [name] : []));
  await expect.poll(async () => (await listNodes(a)).length).toBe(2);
  expect(await differing()).toEqual([]);
  await writeTokens("b", { maxRunning: 3 });
  await expect.poll(differing).toEqual(["b"]);
  await writeTokens("b", { maxRunning: 2, scopes: ["manage"] });
  await expect.poll(differing).toEqual(["b"]);
  await writeTokens("a", { maxRunning: 2, scopes: ["manage"] });
  await expect.poll(differing).toEqual([]);
  expect(JSON.stringify(await query("SELECT * FROM node"))).not.toContain(token.sha256);
});

test("the task of a workspace path that its node refuses fails with the text of the rejection", async () => {
  const { start } = await createNodes();
  const a = await start("a");
  await start("b", { BRIDGE_NODE_TAGS: "gpu" });
  await expect.poll(() => listAdapters(a)).toEqual([{ provider: "command", nodes: ["a", "b"] }]);
  await expect
    .poll(
      async () =>
        (await dispatchTask(a, { taskId: "t1", agentId: "w", message: "x", runsOn: ["gpu"], metadata: { cwd: "absent" } })).status,
    )
    .toBe(202);
  expect(await taskInState(a, "t1", "failed")).toMatchObject({
    result: { errorCode: "adapter_error", error: expect.stringContaining("metadata.cwd must be an existing directory of the workspace") },
  });
});

test("tasks of an agent whose node has died fail after the grace time, and run elsewhere once the node is forgotten", async () => {
  const { start } = await createNodes();
  const a = await start("a");
  const b = await start("b", { BRIDGE_NODE_TAGS: "gpu" });
  await expect.poll(() => statesOf(a)).toEqual({ a: "live", b: "live" });
  expect((await dispatchTask(b, { taskId: "t1", agentId: "writer", message: "1", runsOn: ["node:b"] })).status).toBe(202);
  await taskInState(a, "t1", "completed");
  await expect.poll(() => listAdapters(a)).toEqual([{ provider: "command", nodes: ["a", "b"] }]);
  b.signal("SIGKILL");
  await b.exited;
  expect(await (await dispatchTask(a, { taskId: "t2", agentId: "writer", message: "2" })).json()).toMatchObject({ state: "queued" });
  expect((await dispatchTask(a, { taskId: "t3", agentId: "new", message: "3", runsOn: ["gpu"] })).status).toBe(202);
  const lost = (await taskInState(a, "t2", "failed")) as { result: { errorCode: string; error: string } };
  expect(lost.result).toMatchObject({
    errorCode: "adapter_offline",
    error: expect.stringContaining("lives on the node b, which is not running"),
  });
  expect(await taskInState(a, "t3", "failed")).toMatchObject({
    result: { errorCode: "adapter_offline", error: "No live node with the adapter command has the tag gpu." },
  });
  expect(await rejected(await dispatchTask(a, { agentId: "writer", message: "2" }))).toMatchObject({
    ...{ status: 503, code: "adapter_offline", detail: expect.stringContaining("node b, which is not running") },
  });
  expect((await a.call("DELETE", "/api/v2/nodes/a")).status).toBe(409);
  expect((await a.call("DELETE", "/api/v2/nodes/c")).status).toBe(404);
  await expect.poll(async () => (await a.call("DELETE", "/api/v2/nodes/b")).status).toBe(204);
  expect((await dispatchTask(a, { taskId: "t4", agentId: "writer", message: "4" })).status).toBe(202);
  expect(await taskInState(a, "t4", "completed")).toMatchObject({ node: "a" });
});

test("a queued task whose adapter was on a node that has died runs on its fallback on another node after the grace time", async () => {
  const { start } = await createNodes();
  const a = await start("a");
  const b = await start("b", { BRIDGE_ADAPTERS: ECHO });
  await expect
    .poll(() => listAdapters(a))
    .toEqual([
      { provider: "command", nodes: ["a"] },
      { provider: "echo", nodes: ["b"] },
    ]);
  b.signal("SIGKILL");
  await b.exited;
  const task = { taskId: "t1", provider: "echo", agentId: "new", message: "1", fallbacks: [{ provider: "command" }] };
  expect(await (await dispatchTask(a, task)).json()).toMatchObject({ state: "queued", provider: "echo" });
  expect(await taskInState(a, "t1", "completed")).toMatchObject({
    ...{ provider: "command", node: "a" },
    attempts: [
      { provider: "echo", startedAt: null, reason: expect.stringMatching(/^The adapter echo is (offline|not loaded)/) },
      { provider: "command", errorCode: null },
    ],
  });
});

test("an idle node that stops answers requests until load balancers have noticed it, and closes their connections", async () => {
  const { start } = await createNodes();
  const [a, b] = [await start("a", { BRIDGE_LEASE_SECONDS: "120" }), await start("b", { BRIDGE_LEASE_SECONDS: "120" })];
  await expect.poll(() => statesOf(a)).toEqual({ a: "live", b: "live" });
  a.signal("SIGTERM");
  await expect.poll(() => a.call("GET", "/readyz").then(({ status }) => status)).toBe(503);
  const accepted = await dispatchTask(a, { taskId: "t1", agentId: "writer", message: "1" });
  expect([accepted.status, accepted.headers.get("connection")]).toEqual([202, "close"]);
  expect(await a.exited).toBe(0);
  await taskInState(b, "t1", "completed");
});

test("a rolling restart of two nodes under load rejects no dispatch", async () => {
  const { start } = await createNodes();
  // A busy machine can delay a node for longer than a short lease, and then it stops.
  const settings = {
    BRIDGE_MAX_CONCURRENT: "8",
    BRIDGE_NODE_GRACE_SECONDS: "120",
    BRIDGE_LEASE_SECONDS: "120",
    ...shellCommand("cat; sleep 0.05"),
  };
  const nodes = new Map([
    ["a", await start("a", settings)],
    ["b", await start("b", settings)],
  ]);
  const answers: number[] = [];
  const accepted: string[] = [];
  let isOver = false;
  /** Like a load balancer: a node that refuses the connection, or that is not ready, gets no request. */
  async function dispatchAtReadyNode(taskId: string): Promise<void> {
    for (const node of [...nodes.values()].toSorted(() => (answers.length % 2) - 0.5)) {
      try {
        if ((await node.call("GET", "/readyz")).status !== 200) continue;
        answers.push((await dispatchTask(node, { taskId, agentId: `agent-${accepted.length % 7}`, message: taskId })).status);
        accepted.push(taskId);
        return;
      } catch {
        // The node has closed its port.
      }
    }
  }
  async function load(): Promise<void> {
    for (let index = 0; !isOver; index += 1) await dispatchAtReadyNode(`task-${index}`);
  }
  const loading = load();
  onTestFinished(() => {
    isOver = true;
  });
  await expect.poll(() => accepted.length).toBeGreaterThan(20);
  const [a, b] = [nodes.get("a"), nodes.get("b")] as [BridgeProgram, BridgeProgram];
  expect((await b.call("POST", "/api/v2/nodes/a/drain")).status).toBe(202);
  expect(await a.exited).toBe(0);
  expect((await b.call("POST", "/api/v2/nodes/a/drain")).status).toBe(409);
  const count = accepted.length;
  await expect.poll(() => accepted.length).toBeGreaterThan(count + 10);
  nodes.set("a", await start("a", settings));
  b.signal("SIGTERM");
  expect(await b.exited).toBe(0);
  nodes.set("b", await start("b", settings));
  await expect.poll(() => accepted.length).toBeGreaterThan(count + 40);
  isOver = true;
  await loading;
  expect(new Set(answers)).toEqual(new Set([202]));
  for (const taskId of accepted) await taskInState(nodes.get("b") as BridgeProgram, taskId, "completed");
});
