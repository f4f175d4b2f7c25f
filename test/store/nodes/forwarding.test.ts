import { expect, onTestFinished, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../../support/bridge-program.ts";
import { findFreePort } from "../../support/find-free-port.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const script = "printf hello > result.txt; cat input.txt 2>/dev/null; echo done";

/** A node whose URL the others know. */
async function startNode(database: string, name: string, settings: Record<string, string> = {}): Promise<BridgeProgram & { name: string }> {
  const port = String(await findFreePort());
  const node = await startBridgeProgram(await temporaryDirectory(), {
    ...{ BRIDGE_DATABASE_URL: database, BRIDGE_NODE_NAME: name, BRIDGE_PORT: port, BRIDGE_NODE_URL: `http://127.0.0.1:${port}` },
    ...shellCommand(script),
    ...settings,
  });
  return { ...node, name };
}

const modify = { profile: "modify" };
const read = async (node: BridgeProgram, path: string) => {
  const response = await node.call("GET", path);
  return [response.status, await response.text()];
};

test("the files of a task and of an agent are reached through each node, until their node is gone", async () => {
  const { urlAt, port, query } = await createDatabase();
  const running = await startNode(urlAt(port), "runs");
  const accepting = await startNode(urlAt(port), "accepts", { BRIDGE_MAX_CONCURRENT: "0" });
  const file = "/api/v2/tasks/t1/files/result.txt";

  // The agent gets its place with the first file, on the node that runs tasks.
  const put = () => accepting.call("PUT", "/api/v2/workspaces/writer/files/input.txt", { from: "other" });
  await expect.poll(async () => (await put()).status).toBe(204);
  expect((await dispatchTask(running, { taskId: "t1", agentId: "writer", message: "hello", ...modify })).status).toBe(202);
  expect(await taskInState(accepting, "t1", "completed")).toMatchObject({ result: { output: '{"from":"other"}done\n' } });
  for (const node of [accepting, running]) expect(await read(node, file)).toEqual([200, "hello"]);
  const part = await accepting.call("GET", file, undefined, { range: "bytes=1-2" });
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 1-2/5", "el"]);
  expect((await read(accepting, "/api/v2/tasks/t1/files"))[1]).toContain('"result.txt"');
  expect((await accepting.call("GET", "/api/v2/tasks/unknown/files")).status).toBe(404);
  expect((await accepting.call("DELETE", "/api/v2/workspaces/writer/files/input.txt")).status).toBe(204);
  const hop = await accepting.call("GET", file, undefined, { "bridge-hop": "1" });
  expect([hop.status, await hop.json()]).toEqual([508, expect.objectContaining({ code: "loop_detected" })]);

  // The clock of the database does not decide which files belong to a task.
  await query("UPDATE task SET started_at = started_at + 3600000, finished_at = finished_at + 3600000");
  expect(await read(accepting, file)).toEqual([200, "hello"]);

  running.signal("SIGKILL");
  await running.exited;
  const away = await accepting.call("GET", file);
  expect([away.status, away.headers.get("retry-after"), await away.json()]).toEqual([
    ...[503, "15", expect.objectContaining({ code: "node_unavailable", detail: expect.stringMatching(/\bnode runs\b/) })],
  ]);
});

test("the diff of a task is computed by the node that has its files", async () => {
  const { urlAt, port } = await createDatabase();
  const init = "git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m first";
  const running = await startNode(urlAt(port), "runs", shellCommand(`[ -d .git ] && echo new > new.txt || { ${init}; }; echo done`));
  const accepting = await startNode(urlAt(port), "accepts", { BRIDGE_MAX_CONCURRENT: "0", PATH: "/nonexistent" });
  for (const taskId of ["t1", "t2"]) {
    expect((await dispatchTask(running, { taskId, agentId: "writer", message: "hello", ...modify })).status).toBe(202);
    await taskInState(accepting, taskId, "completed");
  }
  // The first task has created the repository.
  expect((await read(accepting, "/api/v2/tasks/t1/diff"))[0]).toBe(409);
  for (const node of [accepting, running]) {
    const [status, body] = await read(node, "/api/v2/tasks/t2/diff");
    expect([status, JSON.parse(String(body))]).toEqual([
      ...[200, expect.objectContaining({ diff: expect.stringContaining("+new\n"), truncated: null })],
    ]);
  }
});

test("requests of one token are counted over two nodes", async () => {
  const { urlAt, port } = await createDatabase();
  const settings = { BRIDGE_RATE_LIMIT: "20" };
  const nodes = [await startNode(urlAt(port), "a", settings), await startNode(urlAt(port), "b", settings)] as const;
  const ask = async (node: BridgeProgram) => (await node.call("POST", "/api/v2/dispatch", {})).status;
  // 16 requests on each node are below its own limit.
  for (let count = 0; count < 16; count += 1) await Promise.all(nodes.map(ask));
  const isLimited = async () => (await Promise.all(nodes.map(ask))).every((status) => status === 429);
  await expect.poll(isLimited, { interval: 1100 }).toBe(true);
});

test("callbacks of eight dead origins and a healthy one keep the limits of each origin over three nodes, also after their owner is killed", async () => {
  const { urlAt, port, query } = await createDatabase();
  const healthy = await startReceiver();
  const dead = await Promise.all(Array.from({ length: 8 }, () => startReceiver(() => {})));
  onTestFinished(async () => {
    for (const receiver of [healthy, ...dead]) await receiver.close();
  });
  const settings = { BRIDGE_LEASE_SECONDS: "3", BRIDGE_MAX_CONCURRENT: "16" };
  const nodes = await Promise.all(["a", "b", "c"].map((name) => startNode(urlAt(port), name, settings)));
  const dispatch = async (index: number, receiver: { origin: string }) => {
    const body = { taskId: `t${index}`, agentId: `agent-${index}`, message: "go", callbackUrl: receiver.origin };
    expect((await dispatchTask(nodes[index % nodes.length] as BridgeProgram, body)).status).toBe(202);
  };
  const rounds = Array.from({ length: 12 }, (_, round) => [...dead, healthy].map((receiver, at) => [round * 9 + at, receiver] as const));
  for (const round of rounds) await Promise.all(round.map(([index, receiver]) => dispatch(index, receiver)));
  await expect.poll(() => new Set(healthy.taskIds()).size).toBe(12);
  await expect.poll(() => dead.every((receiver) => receiver.connections() > 0)).toBe(true);
  for (const receiver of dead) expect(receiver.mostAtOnce()).toBeLessThanOrEqual(8);

  // The owner of the healthy origin is killed while callbacks wait for it.
  const [{ name } = { name: "" }] = await query<{ name: string }>(
    "SELECT n.name FROM callback_origin o JOIN node n ON n.id = o.node WHERE o.origin = $1",
    [healthy.origin],
  );
  const owner = nodes.find((node) => node.name === name);
  if (owner === undefined) throw new Error("No node owns the origin.");
  owner.signal("SIGKILL");
  await owner.exited;
  const survivor = nodes.find((node) => node !== owner) as BridgeProgram;
  const late = { taskId: "late", agentId: "late", message: "go", callbackUrl: healthy.origin };
  expect((await dispatchTask(survivor, late)).status).toBe(202);
  await expect.poll(() => healthy.taskIds().includes("late")).toBe(true);
});
