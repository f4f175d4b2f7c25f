import { readdirSync, readFileSync } from "node:fs";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { openStore } from "../src/store/open-sqlite.ts";

const migrationsDirectory = new URL("../migrations/", import.meta.url);
/** Tasks of one transaction. An interrupt is handled between two transactions. */
const SLICE_TASKS = 20_000;
const EVENTS_PER_TASK = 3;
/** The first version of the schema with summaries of tasks. */
const SUMMARIES = 10;
/** The first tasks, the oldest ones, belong to an agent and a provider that no later task has. */
const RARE_TASKS = 25;
/** In each thousand tasks, this one is the parent of the tasks up to `LAST_CHILD`. */
const PARENT = 30;
const LAST_CHILD = 70;

/** Names that the filters of a list can use. */
export const filled = {
  agentId: "agent-1",
  rareAgentId: "agent-rare",
  provider: "filled-1",
  rareProvider: "filled-rare",
  parentTaskId: "parent-0",
} as const;

/**
 * Creates a database of ended tasks by SQL. Every filter of every list matches the same share of them, so that only their number differs.
 * With `schema`, the database has this earlier version of the schema: 7 or later, because of its columns.
 */
export async function fillDatabase(file: string, tasks: number, { schema }: { schema?: number } = {}): Promise<void> {
  if (schema === undefined) await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  try {
    if (schema !== undefined) createSchema(database, schema);
    database.pragma("synchronous = OFF");
    database.pragma("cache_size = -1000000");
    for (let first = 1; first <= tasks; first += SLICE_TASKS) {
      fillSlice(database, first, Math.min(tasks, first + SLICE_TASKS - 1), schema);
      await new Promise((resolve) => setImmediate(resolve));
    }
    database.prepare("UPDATE counter SET value = ? WHERE name = 'event'").run(tasks * EVENTS_PER_TASK);
  } finally {
    database.close();
  }
}

function createSchema(database: Database, version: number): void {
  database.pragma("journal_mode = WAL");
  const files = readdirSync(migrationsDirectory).filter((name) => name.endsWith(".sql"));
  for (const name of files.sort().slice(0, version)) database.exec(readFileSync(new URL(name, migrationsDirectory), "utf8"));
  database.pragma(`user_version = ${version}`);
}

const fillSlice = (database: Database, first: number, last: number, schema = Number.POSITIVE_INFINITY): void =>
  database.transaction(() => {
    const range = `WITH RECURSIVE n (i) AS (VALUES (${first}) UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
    // `pick` spreads the filters over all tasks, independently of each other.
    database.exec(`
      INSERT INTO task (seq, tenant, id, parent_seq, parent_id, agent_id, provider, state, metadata, request, fingerprint, created_at, started_at, finished_at, result)
        ${range}, task_number (i, pick, family, place) AS
          (SELECT i, (i * 2654435761 % 4294967296) / 4096, i / 1000, i % 1000 FROM n)
        SELECT i, 'default',
          CASE place WHEN ${PARENT} THEN 'parent-' || family ELSE lower(hex(randomblob(16))) END,
          CASE WHEN place BETWEEN ${PARENT + 1} AND ${LAST_CHILD} THEN i - place + ${PARENT} END,
          CASE WHEN place BETWEEN ${PARENT + 1} AND ${LAST_CHILD} THEN 'parent-' || family END,
          CASE WHEN i <= ${RARE_TASKS} THEN '${filled.rareAgentId}' ELSE 'agent-' || (pick % 4) END,
          CASE WHEN i <= ${RARE_TASKS} THEN '${filled.rareProvider}' ELSE 'filled-' || (pick / 4 % 2) END,
          CASE pick / 8 % 4 WHEN 0 THEN 'failed' WHEN 1 THEN 'cancelled' ELSE 'completed' END,
          '{"workflow":"growth"}', '{"message":"Look into it.","onInterrupt":"fail"}', 'filled',
          CAST(unixepoch('subsec') * 1000 AS INTEGER), CAST(unixepoch('subsec') * 1000 AS INTEGER),
          CAST(unixepoch('subsec') * 1000 AS INTEGER), '{"status":"ok","output":"Done.","durationMs":1}'
        FROM task_number;
      INSERT INTO event (number, task, type, at, data)
        ${range}, e (k, type, data) AS (VALUES (1, 'execution.started', '{"agentId":"agent"}'),
          (2, 'execution.completed', '{"result":{"status":"ok","durationMs":1}}'), (3, 'callback.delivered', '{"attempts":1}'))
        SELECT (i - 1) * ${EVENTS_PER_TASK} + k, i, type, CAST(unixepoch('subsec') * 1000 AS INTEGER), data FROM n CROSS JOIN e;
      INSERT INTO callback (task, tenant, url, origin, body, message_id, state, attempts, updated_at)
        ${range} SELECT i, 'default', 'http://127.0.0.1:9/' || (i % 50), 'http://127.0.0.1:9', CASE WHEN i % 20 = 0 THEN '{"status":"ok","output":"Done.","durationMs":1}' END, 'msg_' || i,
          CASE WHEN i % 20 = 0 THEN 'dead' ELSE 'delivered' END, 1, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM n;
      INSERT INTO callback_dedup (task, at)
        ${range} SELECT i, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM n WHERE i % 20 <> 0;
      INSERT INTO approval (id, task, tenant, tool_call_id, tool_name, input, state, created_at, expires_at, decided_at, decided_by)
        ${range} SELECT 'apr_' || i, i, 'default', 'call-' || i, 'shell', '{"input":{"command":"ls"}}',
          CASE WHEN i % 2 = 0 THEN 'approved' ELSE 'rejected' END, i, i, i, 'operator' FROM n WHERE i % 10 < 2;
      INSERT INTO resume_token (tenant, provider, agent_id, token, used_at)
        ${range} SELECT 'default', 'filled-1', 'agent-1', lower(hex(randomblob(8))), CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM n WHERE i % 5 = 0;`);
    if (schema >= SUMMARIES)
      database.exec(`
        INSERT INTO task_summary (task, title, model, cost_usd, error_code)
          SELECT seq, 'Look into it ' || seq, 'model-' || (seq % 3), 0.01, CASE state WHEN 'failed' THEN 'timeout' WHEN 'cancelled' THEN 'cancelled' END
          FROM task WHERE seq BETWEEN ${first} AND ${last};`);
  })();
