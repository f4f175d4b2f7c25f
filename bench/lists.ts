import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { type BridgeProgram, startBridgeProgram } from "../test/support/bridge-program.ts";
import { startCluster } from "../test/support/postgres/cluster.ts";
import { fillDatabase, filled } from "./fill-database.ts";
import { median, quantile } from "./statistics.ts";

const usage = `Usage: node bench/lists.ts [--tasks n] [--rounds n] [--no-file]

Measures a page of the task list with each filter on both database engines, with 1,000,000 tasks.
`;
const GOAL_MS = 20;
const PAGE = 100;
const WARM_UP_ROUNDS = 3;

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "20" },
    "no-file": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
const filters: Readonly<Record<string, Record<string, string>>> = {
  none: {},
  state: { state: "failed" },
  agent: { agentId: filled.agentId },
  "agent with 25 old tasks": { agentId: filled.rareAgentId },
  adapter: { provider: filled.provider },
  "adapter with 25 old tasks": { provider: filled.rareProvider },
  "agent, adapter and state": { agentId: filled.agentId, provider: filled.provider, state: "completed" },
  parent: { parentTaskId: filled.parentTaskId },
  "no parent": { root: "*" },
  "error code": { errorCode: "timeout" },
  "title that every task contains": { q: "look" },
  "title of one old task": { q: "Look into it 17" },
  "id of no task": { idPrefix: "zzzz" },
  "dead callback": { callback: "dead" },
  label: { label: "team=web" },
};

if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.tasks), Number(values.rounds));

async function main(tasks: number, rounds: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const columns: Record<string, Map<string, number[]>> = {};
  columns["SQLite"] = await measureOn((directory) => fillSqlite(directory, tasks), rounds);
  const server = await startCluster();
  try {
    columns["PostgreSQL"] = await measureOn((directory) => fillPostgres(directory, server.urlOf("postgres"), tasks), rounds);
  } finally {
    await server.close();
  }
  const cells = (name: string): string[] =>
    Object.values(columns).map((column) => {
      const times = column.get(name) ?? [];
      return `${median(times).toFixed(1)} / ${quantile(times, 0.95).toFixed(1)}`;
    });
  const medians = Object.values(columns).flatMap((column) => [...column.values()].map(median));
  const worst = Math.max(...medians);
  const text = `# Lists of tasks

\`npm run bench:lists\`: a page of ${PAGE} of ${tasks.toLocaleString("en")} tasks over HTTP, ${rounds} times for each filter; p50 / p95 in ms, load before ${load}.
Goal: a p50 of at most ${GOAL_MS} ms; the highest is ${worst.toFixed(1)} ms: ${worst <= GOAL_MS ? "met" : "**missed**"}.

| filter | ${Object.keys(columns).join(" | ")} |
|---|${Object.keys(columns)
    .map(() => "--:|")
    .join("")}
${Object.keys(filters)
  .map((name) => `| ${name} | ${cells(name).join(" | ")} |`)
  .join("\n")}
`;
  console.log(text);
  if (!values["no-file"]) writeFileSync(path.join(import.meta.dirname, "lists.md"), text);
  return worst <= GOAL_MS ? 0 : 1;
}

/** Fills a database, and measures a Bridge that uses it. `fill` returns the URL of the database. */
async function measureOn(fill: (directory: string) => Promise<string>, rounds: number): Promise<Map<string, number[]>> {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  const kills: (() => void | Promise<void>)[] = [];
  try {
    const settings = { BRIDGE_DATABASE_URL: await fill(directory), BRIDGE_SANDBOX: "off", BRIDGE_RETENTION_DAYS: "3650" };
    const bridge = await startBridgeProgram(directory, settings, (kill) => void kills.push(kill));
    const times = new Map<string, number[]>();
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1)
      for (const [name, filter] of Object.entries(filters)) {
        const ms = await measureList(bridge, filter);
        if (round >= 0) times.set(name, [...(times.get(name) ?? []), ms]);
      }
    bridge.signal("SIGTERM");
    await bridge.exited;
    return times;
  } finally {
    for (const kill of kills) await kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureList(bridge: BridgeProgram, filter: Record<string, string>): Promise<number> {
  const query = new URLSearchParams({ ...filter, limit: String(PAGE) });
  const startedAt = performance.now();
  const answer = await bridge.call("GET", `/api/v2/tasks?${query}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${query}: ${answer.status} ${text}`);
  return performance.now() - startedAt;
}

async function fillSqlite(directory: string, tasks: number): Promise<string> {
  await fillDatabase(path.join(directory, "bridge.db"), tasks);
  return `sqlite:${path.join(directory, "bridge.db")}`;
}

/** Creates the schema by starting Bridge once, and fills it by SQL. */
async function fillPostgres(directory: string, url: string, tasks: number): Promise<string> {
  const kills: (() => void | Promise<void>)[] = [];
  const first = await startBridgeProgram(directory, { BRIDGE_DATABASE_URL: url, BRIDGE_SANDBOX: "off" }, (kill) => void kills.push(kill));
  first.signal("SIGTERM");
  await first.exited;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(fillTasks(tasks));
    await client.query("ANALYZE");
  } finally {
    await client.end();
  }
  return url;
}

/** The same tasks as those of `fillDatabase`, and their callbacks. */
function fillTasks(tasks: number): string {
  return `
  INSERT INTO task (tenant, id, parent_seq, parent_id, agent_id, provider, state, metadata, request, fingerprint, created_at, started_at, finished_at, result,
      title, model, cost_usd, error_code)
    SELECT 'default',
      CASE i % 1000 WHEN 30 THEN 'parent-' || i / 1000 ELSE md5(i::text) END,
      CASE WHEN i % 1000 BETWEEN 31 AND 70 THEN i - i % 1000 + 30 END,
      CASE WHEN i % 1000 BETWEEN 31 AND 70 THEN 'parent-' || i / 1000 END,
      CASE WHEN i <= 25 THEN '${filled.rareAgentId}' ELSE 'agent-' || pick % 4 END,
      CASE WHEN i <= 25 THEN '${filled.rareProvider}' ELSE 'filled-' || pick / 4 % 2 END,
      CASE pick / 8 % 4 WHEN 0 THEN 'failed' WHEN 1 THEN 'cancelled' ELSE 'completed' END,
      '{"workflow":"growth"}', '{"message":"Look into it.","onInterrupt":"fail"}', 'filled', now_ms, now_ms, now_ms,
      '{"status":"ok","output":"Done.","durationMs":1}', 'Look into it ' || i, 'model-' || i % 3, 0.01,
      CASE pick / 8 % 4 WHEN 0 THEN 'timeout' WHEN 1 THEN 'cancelled' END
    FROM generate_series(1, ${tasks}) AS i, LATERAL (SELECT (i::bigint * 2654435761 % 4294967296) / 4096 AS pick,
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms) AS picked ORDER BY i;
  INSERT INTO callback (task, tenant, url, origin, body, message_id, state, attempts, updated_at)
    SELECT seq, 'default', 'http://127.0.0.1:9/' || seq % 50, 'http://127.0.0.1:9', CASE WHEN seq % 20 = 0 THEN '{}' END, 'msg_' || seq,
      CASE WHEN seq % 20 = 0 THEN 'dead' ELSE 'delivered' END, 1, 1 FROM task;
  INSERT INTO event (number, task, type, at, data) SELECT seq, seq, 'execution.completed', 1, '{}' FROM task;`;
}
