import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const directory = new URL("../../migrations/", import.meta.url);
const migrations = readdirSync(directory)
  .filter((name) => name.endsWith(".sql"))
  .sort()
  .map((name) => readFileSync(new URL(name, directory), "utf8"));

/** Rows as written by the Bridge version of a schema. `since` is the first schema that contains their tables. */
const rows = ({ at, origin }: { at: number; origin: string }): { since: number; sql: string }[] => {
  const request = `{"message":"work","outputStrategy":{"type":"stream"},"profile":"inspect","approvals":"ask","onInterrupt":"fail"`;
  const result = `'{"status":"ok","output":"from the past","durationMs":5,"resumeToken":"session-1","connection":"cli"}'`;
  return [
    {
      since: 1,
      sql: `
        INSERT INTO meta (name, value) VALUES ('epoch', 'abcdef0123');
        UPDATE counter SET value = 6 WHERE name = 'event';
        INSERT INTO task (seq, tenant, id, parent_seq, parent_id, agent_id, provider, state, metadata, request, fingerprint, created_at, started_at, finished_at, result) VALUES
          (1, 'default', 'delivered', NULL, NULL, 'a', 'command', 'completed', '{"ticket":7}', '${request},"callbackUrl":"${origin}/delivered"}', 'f1', ${at}, ${at}, ${at}, ${result}),
          (2, 'default', 'owing', NULL, NULL, 'a', 'command', 'completed', NULL, '${request},"callbackUrl":"${origin}/owing"}', 'f2', ${at}, ${at}, ${at}, ${result}),
          (3, 'default', 'running', NULL, NULL, 'a', 'command', 'running', NULL, '${request},"callbackUrl":"${origin}/running"}', 'f3', ${at}, ${at}, NULL, NULL),
          (4, 'default', 'child', 3, 'running', 'a', 'command', 'queued', NULL, '${request}}', 'f4', ${at}, NULL, NULL, NULL),
          (5, 'default', 'queued', NULL, NULL, 'a', 'command', 'queued', NULL, '${request}}', 'f5', ${at}, NULL, NULL, NULL),
          (6, 'other', 'owing', NULL, NULL, 'a', 'command', 'cancelled', NULL, '${request}}', 'f6', ${at}, NULL, ${at}, '{"status":"error","errorCode":"cancelled","error":"The task was canceled.","durationMs":0,"connection":"in-process"}');
        INSERT INTO event (number, task, type, at, data) VALUES
          (1, 1, 'execution.started', ${at}, '{"agentId":"a"}'), (2, 1, 'assistant.text', ${at}, '{"content":"from the past"}'),
          (3, 1, 'execution.completed', ${at}, '{"output":"from the past","durationMs":5}'), (4, 1, 'callback.delivered', ${at}, '{"attempts":1,"status":200}'),
          (5, 2, 'execution.completed', ${at}, '{"output":"from the past","durationMs":5}'), (6, 3, 'execution.started', ${at}, '{"agentId":"a"}');
        INSERT INTO callback (task, tenant, url, origin, body, state, attempts, next_at, last_status, updated_at) VALUES
          (1, 'default', '${origin}/delivered', '${origin}', NULL, 'delivered', 1, NULL, 200, ${at}),
          (2, 'default', '${origin}/owing', '${origin}', '{"taskId":"owing","äöü":"exactly these bytes"}', 'pending', 2, ${at}, 503, ${at});
        INSERT INTO callback_dedup (task, at) VALUES (1, ${at});
        INSERT INTO resume_token (tenant, provider, agent_id, token, used_at) VALUES ('default', 'command', 'a', 'session-1', ${at});`,
    },
    {
      since: 2,
      sql: `INSERT INTO approval (id, task, tenant, tool_call_id, tool_name, input, state, created_at, expires_at)
        VALUES ('apr_pending', 3, 'default', 'call-1', 'delete', '{"input":{"path":"a.md"}}', 'pending', ${at}, ${at + 600_000})`,
    },
  ];
};

function schemaOf(file: string): unknown[] {
  const database = new SqliteDatabase(file, { readonly: true });
  try {
    const schema = database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").all();
    return [database.pragma("user_version", { simple: true }), database.pragma("integrity_check", { simple: true }), ...schema];
  } finally {
    database.close();
  }
}

test.each(migrations.map((_, index) => index + 1))(
  "a database of schema %i is upgraded, and its tasks, callbacks and events continue",
  async (version) => {
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "bridge.db");
    const { posts, origin, close } = await startReceiver();
    onTestFinished(close);
    const database = new SqliteDatabase(file);
    database.pragma("journal_mode = WAL");
    for (const sql of migrations.slice(0, version)) database.exec(sql);
    database.pragma(`user_version = ${version}`);
    for (const { since, sql } of rows({ at: Date.now() - 60_000, origin })) if (since <= version) database.exec(sql);
    database.close();

    const bridge = await startBridgeProgram(dataDir, shellCommand("echo done"));
    const get = async (target: string) => (await (await bridge.call("GET", target)).json()) as { data: Record<string, string>[] };
    // Interrupted tasks end, including child tasks; queued tasks run.
    expect(await taskInState(bridge, "running", "failed")).toMatchObject({ result: { errorCode: "bridge_restarted" } });
    expect(await taskInState(bridge, "child", "failed")).toMatchObject({ parentTaskId: "running" });
    await taskInState(bridge, "queued", "completed");
    expect(await taskInState(bridge, "delivered", "completed")).toMatchObject({
      metadata: { ticket: 7 },
      result: { output: "from the past", resumeToken: "session-1" },
      callback: { state: "delivered", attempts: 1 },
    });
    const { data: tasks } = await get("/api/v2/tasks");
    expect(tasks.map(({ taskId }) => taskId)).toEqual(["queued", "child", "running", "owing", "delivered"]);

    // Pending callbacks are posted as stored, and delivered ones are not posted again.
    await expect.poll(() => posts.map((post) => post.path).sort()).toEqual(["/owing", "/running"]);
    expect(posts.find((post) => post.path === "/owing")?.body.toString()).toBe('{"taskId":"owing","äöü":"exactly these bytes"}');
    await expect.poll(async () => await get("/api/v2/tasks/owing")).toMatchObject({ callback: { state: "delivered", attempts: 3 } });

    // The event log continues in its epoch after its last number.
    const { data: events } = await get("/api/v2/tasks/delivered/events");
    expect(events.map(({ id, type }) => `${id} ${type}`)).toEqual([
      "abcdef0123-1 execution.started",
      "abcdef0123-2 assistant.text",
      "abcdef0123-3 execution.completed",
    ]);
    const { data: laterEvents } = await get("/api/v2/tasks/queued/events");
    for (const { id } of laterEvents) expect(Number(id?.split("-")[1])).toBeGreaterThan(6);
    if (version >= 2) expect(await get("/api/v2/approvals")).toMatchObject({ data: [{ approvalId: "apr_pending", state: "rejected" }] });

    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    const freshDir = await temporaryDirectory();
    const fresh = await startBridgeProgram(freshDir);
    fresh.signal("SIGTERM");
    expect(await fresh.exited).toBe(0);
    expect(schemaOf(file)).toEqual(schemaOf(path.join(freshDir, "bridge.db")));
  },
);
