import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../../support/bridge-program.ts";
import { isAlive } from "../../support/is-alive.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { startProxy } from "../../support/postgres/proxy.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startSubscriber } from "../../webhooks/webhook-programs.ts";

const LEASE_SECONDS = 5;

/** Starts a node whose tasks write the number of their process to `<task id>.pid`, and run until they are killed. */
async function startNode(
  database: TestDatabase,
  name: string,
  { dataDir = "", port = database.port, leaseSeconds = LEASE_SECONDS, settings = {} } = {},
) {
  const directory = dataDir === "" ? await temporaryDirectory() : dataDir;
  const bridge = await startBridgeProgram(directory, {
    BRIDGE_DATABASE_URL: database.urlAt(port),
    BRIDGE_NODE_NAME: name,
    BRIDGE_LEASE_SECONDS: String(leaseSeconds),
    ...shellCommand(
      `echo $$ > ${directory}/$BRIDGE_TASK_ID.new; mv ${directory}/$BRIDGE_TASK_ID.new ${directory}/$BRIDGE_TASK_ID.pid; exec sleep 10000`,
    ),
    ...settings,
  });
  return { ...bridge, dataDir: directory };
}

type Node = Awaited<ReturnType<typeof startNode>>;

/** Starts a task on a node. Returns the number of its process. */
async function runTask(node: Node, taskId: string, fields: object = {}): Promise<number> {
  expect((await dispatchTask(node, { taskId, agentId: taskId, message: "go", ...fields })).status).toBe(202);
  return waitForProcess(node, taskId);
}

/** Waits until the task runs. Returns the number of its process, which ends with the test. */
async function waitForProcess(node: Node, taskId: string): Promise<number> {
  const file = path.join(node.dataDir, `${taskId}.pid`);
  await expect.poll(() => existsSync(file)).toBe(true);
  const pid = Number(readFileSync(file, "utf8"));
  rmSync(file);
  // Bridge ends its own tasks, but the tests kill some nodes.
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  return pid;
}

const taskOf = async (node: BridgeProgram, taskId: string) => (await (await node.call("GET", `/api/v2/tasks/${taskId}`)).json()) as object;

const hasLogged = (node: BridgeProgram, text: string): boolean => node.log.some(({ msg }) => String(msg).includes(text));

const LOST = "did not answer for most of the lease";
const REGAINED = "the database answers again";

const typesOf = async (database: TestDatabase, taskId: string): Promise<string[]> => {
  const text = "SELECT type FROM event JOIN task ON task.seq = event.task WHERE task.id = $1 ORDER BY number";
  return (await database.query<{ type: string }>(text, [taskId])).map(({ type }) => type);
};

test("the tasks of a node that was killed end through another node, which posts their callbacks, and a retry waits for its node", async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const database = await createDatabase();
  const [first, second] = [await startNode(database, "first"), await startNode(database, "second")];
  await runTask(first, "ended", { callbackUrl: receiver.origin });
  await runTask(first, "again", { onInterrupt: "retry" });
  await runTask(second, "other");
  first.signal("SIGKILL");
  await first.exited;
  expect(await taskInState(second, "ended", "failed", 30_000)).toMatchObject({
    result: { errorCode: "bridge_restarted", error: "The node first, which ran the task, stopped responding." },
  });
  await expect.poll(() => receiver.posts.map(({ body }) => JSON.parse(String(body)))).toMatchObject([{ taskId: "ended", status: "error" }]);
  await taskInState(second, "again", "queued");
  expect(await taskOf(second, "other")).toMatchObject({ state: "running" });
  await expect.poll(() => hasLogged(second, "ended the tasks of a dead node")).toBe(true);
  const again = await startNode(database, "first", { dataDir: first.dataDir });
  await waitForProcess(again, "again");
});

test("a node that was killed and starts again in its data directory ends its own tasks at once, and no others", async () => {
  const database = await createDatabase();
  // The start on a busy machine takes longer than a short lease.
  const leaseSeconds = 600;
  const [first, second] = [await startNode(database, "first", { leaseSeconds }), await startNode(database, "second", { leaseSeconds })];
  await runTask(first, "own");
  await runTask(second, "other");
  const [{ lease } = { lease: "" }] = await database.query<{ lease: string }>("SELECT lease_until AS lease FROM node WHERE name = 'first'");
  first.signal("SIGKILL");
  await first.exited;
  const again = await startNode(database, "first", { dataDir: first.dataDir, leaseSeconds });
  await taskInState(again, "own", "failed");
  const [{ ended } = { ended: "" }] = await database.query<{ ended: string }>("SELECT finished_at AS ended FROM task WHERE id = 'own'");
  // Another node would not have ended it before the end of the lease.
  expect(Number(ended)).toBeLessThan(Number(lease));
  expect(hasLogged(second, "node is dead")).toBe(false);
  expect(await taskOf(again, "own")).toMatchObject({ result: { error: "Bridge was restarted while the task ran." } });
  expect(await taskOf(again, "other")).toMatchObject({ state: "running" });
});

test("a node that was stopped for longer than its lease kills its tasks when it continues, writes nothing more, and exits", async () => {
  const database = await createDatabase();
  const [first, second] = [await startNode(database, "first"), await startNode(database, "second")];
  const pid = await runTask(first, "task");
  first.signal("SIGSTOP");
  await taskInState(second, "task", "failed", 30_000);
  const types = await typesOf(database, "task");
  expect(isAlive(pid)).toBe(true);
  first.signal("SIGCONT");
  expect(await first.exited).toBe(1);
  expect(isAlive(pid)).toBe(false);
  expect(hasLogged(first, "Bridge stops: it did not reach its database for BRIDGE_LEASE_SECONDS")).toBe(true);
  expect(await typesOf(database, "task")).toEqual(types);
  expect(types.at(-1)).toBe("execution.failed");
});

test("nodes that lose the database stop their tasks, and one that comes back does not count those as dead that come back later", async () => {
  const database = await createDatabase();
  const proxies = [await startProxy(database.port), await startProxy(database.port)] as const;
  // Long enough for the second node to come back before the first one may declare it dead.
  const leaseSeconds = 12;
  const first = await startNode(database, "first", { port: proxies[0].port, leaseSeconds });
  const second = await startNode(database, "second", { port: proxies[1].port, leaseSeconds });
  const processes = [await runTask(first, "one"), await runTask(second, "two", { onInterrupt: "retry" })];
  for (const proxy of proxies) proxy.cut();
  for (const node of [first, second]) await expect.poll(() => hasLogged(node, LOST), { timeout: 20_000 }).toBe(true);
  await expect.poll(() => processes.some(isAlive)).toBe(false);
  const isOver = async () => database.query("SELECT 1 FROM node WHERE lease_until > extract(epoch FROM clock_timestamp()) * 1000");
  await expect.poll(isOver, { timeout: 20_000 }).toEqual([]);
  expect((await first.call("GET", "/readyz")).status).toBe(503);
  proxies[0].pass();
  await expect.poll(() => hasLogged(first, REGAINED), { timeout: 20_000 }).toBe(true);
  const leaseOf = async () =>
    Number((await database.query<{ at: string }>("SELECT lease_until AS at FROM node WHERE name = 'first'"))[0]?.at);
  const regained = await leaseOf();
  // Within this time, the first node has looked for dead nodes.
  await expect.poll(async () => (await leaseOf()) - regained, { timeout: 20_000 }).toBeGreaterThan((leaseSeconds * 1000) / 3);
  proxies[1].pass();
  await expect.poll(() => hasLogged(second, REGAINED), { timeout: 20_000 }).toBe(true);
  expect(await taskInState(second, "one", "failed")).toMatchObject({
    result: { errorCode: "bridge_restarted", error: expect.stringMatching(/^The node lost its database for \d+ s\.$/) },
  });
  await waitForProcess(second, "two");
  for (const node of [first, second]) {
    expect(hasLogged(node, "node is dead")).toBe(false);
    expect((await node.call("GET", "/readyz")).status).toBe(200);
  }
});

test("a short failure of the database ends no task", async () => {
  const database = await createDatabase();
  const proxy = await startProxy(database.port);
  // Long enough for a busy machine to notice the failure and its end before the tasks are stopped.
  const leaseSeconds = 24;
  const first = await startNode(database, "first", { port: proxy.port, leaseSeconds });
  const second = await startNode(database, "second", { leaseSeconds });
  const pid = await runTask(first, "task");
  proxy.cut();
  const ageOf = async () => Number(/^bridge_lease_age_seconds (.+)$/m.exec(await (await first.call("GET", "/metrics")).text())?.[1]);
  await expect.poll(ageOf, { timeout: 20_000 }).toBeGreaterThan(leaseSeconds / 3);
  proxy.pass();
  await expect.poll(ageOf, { timeout: 20_000 }).toBeLessThan(leaseSeconds / 4);
  expect([isAlive(pid), hasLogged(first, LOST), hasLogged(second, "node is dead")]).toEqual([true, false, false]);
  expect(await taskOf(second, "task")).toMatchObject({ state: "running" });
});

test("a copy of a data directory, and a name that another node has, are refused with the setting to change", async () => {
  const database = await createDatabase();
  const first = await startNode(database, "first");
  const copy = path.join(await temporaryDirectory(), "copy");
  cpSync(first.dataDir, copy, { recursive: true });
  await refuses(startNode(database, "second", { dataDir: copy }), /a live node has the same node id, so BRIDGE_DATA_DIR is a copy/);
  await refuses(startNode(database, "first"), /another live node has the name first\. Set a different BRIDGE_NODE_NAME/);
  rmSync(path.join(copy, "node-id"));
  const second = await startNode(database, "second", { dataDir: copy });
  await runTask(second, "task");
  expect((await first.call("GET", "/readyz")).status).toBe(200);
});

test("a start at the path of a live node whose directory was renamed is refused, and the tasks of that node go on", async () => {
  const database = await createDatabase();
  const dataDir = path.join(await temporaryDirectory(), "data");
  mkdirSync(dataDir);
  // The start on a busy machine takes longer than a short lease.
  const leaseSeconds = 30;
  const first = await startNode(database, "first", { dataDir, leaseSeconds });
  const pid = await runTask(first, "task");
  renameSync(dataDir, `${dataDir}-renamed`);
  cpSync(`${dataDir}-renamed`, dataDir, { recursive: true });
  await refuses(startNode(database, "first", { dataDir, leaseSeconds }), /BRIDGE_DATA_DIR is a copy/);
  expect(isAlive(pid)).toBe(true);
  expect(await taskOf(first, "task")).toMatchObject({ state: "running" });
});

test("a node that cannot clear what an earlier process left behind leaves the cluster, so that other nodes end its tasks", async () => {
  const database = await createDatabase();
  const dataDir = await temporaryDirectory();
  mkdirSync(path.join(dataDir, "process-labels"));
  const node = await startNode(database, "first", { dataDir });
  expect(await node.exited).toBe(1);
  expect(await database.query("SELECT state FROM node")).toEqual([{ state: "gone" }]);
});

test("a node whose start fails after it has joined leaves the cluster, so that other nodes end its tasks", async () => {
  const database = await createDatabase();
  const { settings } = await startSubscriber(await temporaryDirectory());
  await database.query("ALTER TABLE webhook RENAME TO absent");
  const node = await startNode(database, "first", { settings });
  expect(await node.exited).toBe(1);
  expect(node.stderr()).toContain('relation "webhook" does not exist');
  expect(await database.query("SELECT state FROM node")).toEqual([{ state: "gone" }]);
});

/** A node that joins has already bound its port, so it exits after its first log line. */
async function refuses(starting: Promise<Node>, message: RegExp): Promise<void> {
  const node = await starting;
  expect(await node.exited).toBe(1);
  expect(node.stderr()).toMatch(message);
  expect(node.stderr()).not.toContain("    at ");
}

test("a node with the name of one that died joins when that lease is over, unless it is stopped before, and ends its tasks", async () => {
  const database = await createDatabase();
  const first = await startNode(database, "same");
  await runTask(first, "task");
  first.signal("SIGKILL");
  await first.exited;
  // The start on a busy machine takes longer than the lease.
  await database.query("UPDATE node SET lease_until = lease_until + 600000");
  const stopped = await startNode(database, "same");
  await expect.poll(() => hasLogged(stopped, "waiting for the end of the lease")).toBe(true);
  stopped.signal("SIGTERM");
  expect([await stopped.exited, stopped.stderr()]).toEqual([0, ""]);
  const second = await startNode(database, "same");
  await expect.poll(() => hasLogged(second, "waiting for the end of the lease")).toBe(true);
  await database.query("UPDATE node SET lease_until = lease_until - 600000");
  expect(await taskInState(second, "task", "failed", 40_000)).toMatchObject({ result: { errorCode: "bridge_restarted" } });
});

test("a node that stops in order leaves at once, and its tasks end with it", async () => {
  const database = await createDatabase();
  const [first, second] = [await startNode(database, "first"), await startNode(database, "second")];
  await runTask(first, "task");
  const nodeOf = async () =>
    (await database.query<{ state: string; lease_until: string }>("SELECT state, lease_until FROM node WHERE name = 'first'"))[0];
  first.signal("SIGTERM");
  await expect.poll(nodeOf).toMatchObject({ state: "draining" });
  await second.call("POST", "/api/v2/tasks/task/cancel");
  expect(await first.exited).toBe(0);
  expect(await nodeOf()).toMatchObject({ state: "gone" });
  expect(await taskOf(second, "task")).toMatchObject({ state: "cancelled" });
  expect(hasLogged(second, "node is dead")).toBe(false);
});
