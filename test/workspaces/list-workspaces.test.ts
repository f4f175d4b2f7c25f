import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-sqlite.ts";
import { createWorkspaceList, MAX_WORKSPACES } from "../../src/workspaces/list-workspaces.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

interface Row {
  tenant?: string;
  agentId: string;
  at: number;
  state?: "queued" | "running" | "completed";
}

/** A store with these tasks, oldest first. Running tasks started, and completed tasks ended, 5 ms after their creation. */
async function startWithTasks(tasks: Iterable<Row>) {
  const directory = await temporaryDirectory();
  const file = path.join(directory, "bridge.db");
  await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -100000");
  const insert = database.prepare(
    `INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
     VALUES (?, ?, ?, 'command', ?, ?, '', ?, ?, ?, ?)`,
  );
  const request = JSON.stringify({ message: "x".repeat(300) });
  let number = 0;
  database.transaction(() => {
    for (const { tenant = "acme", agentId, at, state = "completed" } of tasks) {
      number += 1;
      const startedAt = state === "queued" ? null : at + 5;
      const ended = state === "completed" ? [at + 5, "{}"] : [null, null];
      insert.run(tenant, `t${number}`, agentId, state, request, at, startedAt, ...ended);
    }
  })();
  database.close();
  const store = openStore({ file });
  onTestFinished(() => store.close());
  const workspacesDir = path.join(directory, "workspaces");
  return { store, file, workspacesDir, list: createWorkspaceList({ store, workspacesDir }).listWorkspaces };
}

test("agents with tasks are listed, the latest first, with the time of their newest task", async () => {
  const { list } = await startWithTasks([
    { agentId: "ended", at: 1000 },
    { agentId: "ended", at: 2000 },
    { agentId: "waiting", at: 3000, state: "queued" },
    { agentId: "working", at: 3001, state: "running" },
    { agentId: "ended", tenant: "other", at: 9000 },
    { agentId: "secret", tenant: "other", at: 9000 },
  ]);
  expect(await list("acme")).toEqual([
    { id: "working", kind: "agent", agentId: "working", tasks: 1, updatedAt: 3006 },
    { id: "waiting", kind: "agent", agentId: "waiting", tasks: 1, updatedAt: 3000 },
    { id: "ended", kind: "agent", agentId: "ended", tasks: 2, updatedAt: 2005 },
  ]);
  expect(await list("nobody")).toEqual([]);
});

test("agents with only a directory are listed, and other entries are not", async () => {
  const { list, workspacesDir } = await startWithTasks([{ agentId: "busy", at: 2000 }]);
  for (const name of ["acme/busy", "acme/idle", "acme/.cache", "acme/not an agent", "other/secret"])
    await mkdir(path.join(workspacesDir, name), { recursive: true });
  await writeFile(path.join(workspacesDir, "acme/file"), "");
  await symlink("nowhere", path.join(workspacesDir, "acme/dangling"));
  await symlink(path.join(workspacesDir, "other/secret"), path.join(workspacesDir, "acme/linked"));
  await utimes(path.join(workspacesDir, "acme/idle"), 3, 3);
  await utimes(path.join(workspacesDir, "other/secret"), 1, 1);
  expect(await list("acme")).toEqual([
    { id: "idle", kind: "agent", agentId: "idle", tasks: 0, updatedAt: 3000 },
    { id: "busy", kind: "agent", agentId: "busy", tasks: 1, updatedAt: 2005 },
    { id: "linked", kind: "agent", agentId: "linked", tasks: 0, updatedAt: 1000 },
  ]);
});

test("the latest of very many agents are listed, with correct counts", async () => {
  const { list, workspacesDir } = await startWithTasks(
    Array.from({ length: MAX_WORKSPACES + 10 }, (_, index) => ({ agentId: `agent-${index}`, at: index })),
  );
  await mkdir(path.join(workspacesDir, "acme/agent-0"), { recursive: true });
  const workspaces = await list("acme");
  expect(workspaces.map(({ agentId }) => agentId)).toEqual(
    Array.from({ length: MAX_WORKSPACES }, (_, index) => `agent-${MAX_WORKSPACES + 9 - index}`),
  );
  expect(new Set(workspaces.map(({ tasks }) => tasks))).toEqual(new Set([1]));
});

test.each([1, 2, 3, 200])("pages of %i contain each workspace once, ordered by name", async (limit) => {
  const {
    store,
    list: _,
    workspacesDir,
  } = await startWithTasks([
    { agentId: "b", at: 2000 },
    { agentId: "d", at: 1000 },
    { agentId: "b", at: 3000 },
    { agentId: "e", tenant: "other", at: 9000 },
  ]);
  for (const name of ["acme/a", "acme/b", "acme/c", "acme/e2", "acme/not an agent", "other/f"])
    await mkdir(path.join(workspacesDir, name), { recursive: true });
  const { pageWorkspaces } = createWorkspaceList({ store, workspacesDir });
  const found: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page = await pageWorkspaces("acme", { after, limit });
    expect(page.workspaces.length).toBeLessThanOrEqual(limit);
    found.push(...page.workspaces.map(({ agentId, tasks }) => `${agentId} ${tasks}`));
    after = page.next;
  }
  expect(found).toEqual(["a 0", "b 2", "c 0", "d 1", "e2 0"]);
});

test("100,000 tasks of 50 agents are counted along an index", async () => {
  function* tasks() {
    for (let at = 0; at < 100_000; at += 1) yield { agentId: `agent-${(at * 7919) % 50}`, at };
  }
  const { list, file } = await startWithTasks(tasks());
  const database = new SqliteDatabase(file, { readonly: true });
  onTestFinished(() => void database.close());
  const reading = database.prepare("SELECT agent_id, count(*), max(created_at) FROM task WHERE tenant = 'acme' GROUP BY agent_id");
  const costsUs = { list: Number.POSITIVE_INFINITY, reading: Number.POSITIVE_INFINITY };
  for (let round = 0; round < 3; round += 1) {
    const begun = process.threadCpuUsage();
    const workspaces = await list("acme");
    const { user: listUs } = process.threadCpuUsage(begun);
    const listed = process.threadCpuUsage();
    expect(reading.all()).toHaveLength(50);
    costsUs.list = Math.min(costsUs.list, listUs);
    costsUs.reading = Math.min(costsUs.reading, process.threadCpuUsage(listed).user);
    expect([workspaces.length, workspaces[0]?.tasks]).toEqual([50, 2000]);
  }
  // Reading the rows themselves takes several times as much CPU time.
  expect(costsUs.list).toBeLessThan(costsUs.reading / 2);
});

test("concurrent lists of a tenant are read sequentially, and other work runs in between", async () => {
  let asked = 0;
  const store = {
    async listAgents() {
      asked += 1;
      return [];
    },
    listAgentsByName: async () => [],
  };
  const list = createWorkspaceList({ store, workspacesDir: await temporaryDirectory() });
  const lists = Promise.all(Array.from({ length: 5 }, () => list.listWorkspaces("acme")));
  await new Promise(process.nextTick);
  expect(asked).toBe(1);
  expect(await lists).toEqual(Array(5).fill([]));
  expect(asked).toBe(5);
});
