import { expect, onTestFinished, test } from "vitest";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { createInMemoryManager } from "../../adapters/in-memory-manager.ts";
import { findFreePort } from "../../support/find-free-port.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { type Answer, type Bridge, type Call, startBridge } from "../../support/start-bridge.ts";

/** Starts a node whose URL the others know. With a runtime, it manages one that stores its own agents and files. */
async function startNode(database: TestDatabase, name: string, { hasRuntime }: { hasRuntime: boolean }) {
  const calls: string[] = [];
  const manager = createInMemoryManager({ before: (method) => void calls.push(method) });
  const adapter = { ...createInMemoryAdapter({ provider: "daemon", capabilities: { management: true } }), ...manager };
  const port = String(await findFreePort());
  const bridge = await startBridge(
    {
      ...{ BRIDGE_DATABASE_URL: database.urlAt(database.port), BRIDGE_SANDBOX: "off", BRIDGE_NODE_NAME: name },
      ...{ BRIDGE_PORT: port, BRIDGE_NODE_URL: `http://127.0.0.1:${port}` },
    },
    { adapters: hasRuntime ? [{ provider: "daemon", adapter }] : [] },
  );
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= bridge.close());
  onTestFinished(close);
  const ask = (method: string, target: string, options?: Call): Promise<Answer> =>
    bridge.call(method, `/api/v2/gateway/daemon${target}`, options);
  /** The outcomes of the writes that this node has logged. */
  const audit = () => bridge.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "gateway write");
  return { bridge, calls, ask, audit, close };
}

const knowsRuntime = async ({ bridge }: { bridge: Bridge }, nodes: readonly string[]): Promise<boolean> => {
  const { body } = await bridge.call("GET", "/api/v2/nodes");
  const healthy = (body.data as { name: string; adapters: { provider: string; health: string; checkedAt: string | null }[] }[]).filter(
    ({ adapters }) =>
      adapters.some(({ provider, health, checkedAt }) => provider === "daemon" && health === "healthy" && checkedAt !== null),
  );
  return nodes.every((name) => healthy.some((node) => node.name === name));
};

test("the agents and files of a runtime on another node are managed through each node, with conditions, scopes and one log line", async () => {
  const database = await createDatabase();
  const runtime = await startNode(database, "runtime", { hasRuntime: true });
  const other = await startNode(database, "other", { hasRuntime: false });
  await expect.poll(() => knowsRuntime(other, ["runtime"])).toBe(true);

  expect((await other.ask("POST", "/agents", { body: { id: "ada", name: "Ada" } })).status).toBe(201);
  const created = await other.ask("PUT", "/agents/ada/files/SOUL.md", { body: { content: "Be kind. 世界" } });
  expect([created.status, created.body.content]).toEqual([201, "Be kind. 世界"]);
  const read = await other.ask("GET", "/agents/ada/files/SOUL.md");
  expect(read.body).toEqual((await runtime.ask("GET", "/agents/ada/files/SOUL.md")).body);
  const etag = String(read.headers.get("etag"));
  expect((await other.ask("GET", "/agents/ada/files/SOUL.md", { headers: { "if-none-match": etag } })).status).toBe(304);
  const replace = (ifMatch: string) =>
    other.ask("PUT", "/agents/ada/files/SOUL.md", { body: { content: "Be brief." }, headers: { "if-match": ifMatch } });
  expect([(await replace('"stale"')).status, (await replace(etag)).status]).toEqual([409, 200]);
  expect((await runtime.ask("GET", "/agents/ada/files")).body.data).toMatchObject([{ name: "SOUL.md", bytes: 9 }]);
  expect((await other.ask("GET", "/agents/none/files/a")).status).toBe(404);
  expect((await other.ask("GET", "/agents", { token: "reader" })).status).toBe(403);
  expect((await other.ask("GET", "/agents", { headers: { "bridge-hop": "1" } })).status).toBe(508);
  expect((await other.ask("DELETE", "/agents/ada/files/SOUL.md")).status).toBe(204);
  // Only the node with the runtime logs the writes.
  expect(runtime.audit().map(({ method, outcome }) => `${method} ${outcome}`)).toEqual([
    ...["POST done", "PUT done", "PUT stale_write", "PUT done", "DELETE done"],
  ]);
  expect(other.audit()).toEqual([]);
});

test("the writes through all nodes reach the first node by name that has the runtime, and the next one when it has left", async () => {
  const database = await createDatabase();
  const first = await startNode(database, "a", { hasRuntime: true });
  const second = await startNode(database, "b", { hasRuntime: true });
  const front = await startNode(database, "c", { hasRuntime: false });
  const nodes = [first, second, front];
  for (const node of nodes) await expect.poll(() => knowsRuntime(node, ["a", "b"])).toBe(true);
  for (const [index, node] of nodes.entries())
    expect((await node.ask("PUT", `/skills/s${index}`, { body: { content: "x" } })).status).toBe(201);
  expect([first, second].map(({ calls }) => calls.filter((method) => method === "writeSkill").length)).toEqual([3, 0]);
  await first.close();
  await expect.poll(async () => (await front.ask("PUT", "/skills/s0", { body: { content: "x" } })).status).toBe(201);
  expect(second.calls).toContain("writeSkill");
});
