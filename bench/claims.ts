import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { LaneTask } from "../src/dispatch/scheduler/lane-task.ts";
import { createScheduler } from "../src/dispatch/scheduler/scheduler.ts";
import { openSqlite, type SqliteDriver } from "../src/store/engines/sqlite/driver.ts";
import { claimSql } from "../src/store/tasks/sqlite-writes.ts";
import type { TenantQuota } from "../src/task.ts";
import { median } from "./statistics.ts";

const usage = `Usage: node bench/claims.ts [--rounds n] [--queued n] [--no-file]

Measures the CPU time of claiming the next task, with a long queue and many tenants, and compares it with the earlier statement, which
claimed the oldest queued task of an adapter regardless of its tenant.
`;
const GOAL = 1.1;
/** Claims in one slice. The claimed tasks return to the queue after the slice. */
const SLICE = 200;
const MAX_CONCURRENT = 4;
const PROVIDER = "noop";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "25" },
    queued: { type: "string", default: "10000" },
    "no-file": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.rounds), Number(values.queued));

interface Shape {
  what: string;
  tenants: number;
  quota: Partial<TenantQuota>;
  /** Number of the oldest tasks, which belong to an agent at its limit. */
  held: number;
  hasGoal: boolean;
}

/** Claims the tasks of one slice. Returns the CPU time of one claim in µs. */
type Subject = () => Promise<number>;

async function main(rounds: number, queued: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const shapes: Shape[] = [
    { what: "1 tenant", tenants: 1, quota: {}, held: 0, hasGoal: true },
    { what: "1,000 tenants", tenants: 1_000, quota: {}, held: 0, hasGoal: true },
    { what: "1,000 tenants with a limit of running tasks", tenants: 1_000, quota: { maxRunning: 2 }, held: 0, hasGoal: true },
    {
      what: "1 tenant, half of the queue held back by an agent's limit",
      tenants: 1,
      quota: { agentMaxRunning: 1 },
      held: queued / 2,
      hasGoal: false,
    },
  ];
  const rows = [];
  for (const shape of shapes) rows.push({ ...shape, ...(await measure(shape, rounds, queued)) });
  const text = `# The cost of a claim

\`npm run bench:claims\`: CPU time of a claim with ${queued} queued tasks, without the commit and the first event, which are the same for both; medians of
${rounds} rounds of ${SLICE} claims, in turn, load before ${load}. "Oldest task" is the earlier claim, from before tenants shared the slots, with the
index that it used. "Fair share" is the current claim: choosing the tenant, the statement, and all counting from the arrival of a task to its end. The
ratio is the median of the ratios of the rounds. Goal: at most ${GOAL}.

| queue | oldest task | fair share | ratio | |
|---|--:|--:|--:|---|
${rows.map(({ what, before, now, ratio, hasGoal }) => `| ${what} | ${before.toFixed(1)} µs | ${now.toFixed(1)} µs | ${ratio.toFixed(2)} | ${hasGoal ? (ratio <= GOAL ? "met" : "**missed**") : "no goal"} |`).join("\n")}
`;
  console.log(`\n${text}`);
  if (!values["no-file"]) writeFileSync(path.join(import.meta.dirname, "claims.md"), text);
  return rows.every(({ ratio, hasGoal }) => !hasGoal || ratio <= GOAL) ? 0 : 1;
}

async function measure(shape: Shape, rounds: number, queued: number) {
  const directory = mkdtempSync(path.join(tmpdir(), "bench-claims-"));
  const hooks = { beforeCommit() {}, afterCommit() {}, afterRollback() {}, mark: () => ({ undo() {} }), onFault() {} };
  const drivers = ["before", "now"].map((name) => openSqlite(path.join(directory, `${name}.db`), hooks)) as [SqliteDriver, SqliteDriver];
  try {
    const tasks = Array.from({ length: queued }, (_, index): LaneTask => {
      const agentId = index < shape.held ? "held" : `agent-${index % 10}`;
      return { tenant: `tenant-${index % shape.tenants}`, agentId, provider: PROVIDER, parentTaskId: null };
    });
    for (const driver of drivers) await fillQueue(driver, tasks);
    const [before, now] = [await createOldestTaskClaim(drivers[0]), createFairShareClaim(drivers[1], tasks, shape)];
    const times: { before: number; now: number }[] = [];
    for (let round = -3; round < rounds; round += 1) {
      const turn = round % 2 === 0 ? { before: await before(), now: await now() } : { now: await now(), before: await before() };
      // The first rounds warm up.
      if (round >= 0) times.push(turn);
    }
    return {
      before: median(times.map((time) => time.before)),
      now: median(times.map((time) => time.now)),
      ratio: median(times.map((time) => time.now / time.before)),
    };
  } finally {
    for (const driver of drivers) await driver.close();
    rmSync(directory, { recursive: true });
  }
}

async function fillQueue(driver: SqliteDriver, tasks: readonly LaneTask[]): Promise<void> {
  const request = JSON.stringify({ message: "x".repeat(1_000) });
  await driver.write(() => {
    for (const [index, { tenant, agentId, provider }] of tasks.entries()) {
      driver.run(
        "INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at) VALUES (?, ?, ?, ?, 'queued', ?, '', 0)",
        tenant,
        `task-${index}`,
        agentId,
        provider,
        request,
      );
    }
  });
}

/** Creates the earlier claim, from before tenants shared the slots, and its index. */
async function createOldestTaskClaim(driver: SqliteDriver): Promise<Subject> {
  const sql = `WITH waiting AS (
      SELECT q.seq, q.parent_seq, q.provider FROM task q WHERE q.provider = ? AND q.state = 'queued'
        AND (q.resume_token IS NULL OR NOT EXISTS (
        SELECT 1 FROM task r WHERE r.provider = q.provider AND r.state = 'running' AND r.resume_token = q.resume_token
          AND r.tenant = q.tenant AND r.agent_id = q.agent_id))),
    child AS (
      SELECT w.seq FROM waiting w WHERE (w.parent_seq IS NULL) = 0
      ORDER BY (SELECT max(c.started_at) FROM task c WHERE c.parent_seq = w.parent_seq AND c.provider = w.provider), w.seq LIMIT 1),
    other AS (SELECT w.seq FROM waiting w WHERE (w.parent_seq IS NULL) = 1 AND ? = 0 ORDER BY w.seq LIMIT 1),
    next AS MATERIALIZED (SELECT seq FROM child UNION ALL SELECT seq FROM other LIMIT 1)
    UPDATE task SET state = 'running', started_at = ? WHERE seq IN (SELECT seq FROM next) AND state = 'queued' RETURNING *`;
  await driver.write(() => {
    driver.run("DROP INDEX task_queued");
    driver.run("CREATE INDEX task_queued ON task (provider, (parent_seq IS NULL)) WHERE state = 'queued'");
  });
  return () => measureSlice(driver, () => driver.get(sql, PROVIDER, 0, 1));
}

function createFairShareClaim(driver: SqliteDriver, tasks: readonly LaneTask[], { quota, held }: Shape): Subject {
  const unlimited = { weight: 1, queueLimit: null, maxRunning: null, agentQueueLimit: null, agentMaxRunning: null };
  const quotas = { ...unlimited, ...quota };
  // The additional slot is for the running task of the agent at its limit.
  const maxConcurrent = () => MAX_CONCURRENT + 1;
  const scheduler = createScheduler({ maxConcurrent, queueLimit: tasks.length, quotaOf: () => quotas, ownNode: "" });
  const start = () => scheduler.claimSlot(PROVIDER);
  if (held > 0) {
    const task = { ...(tasks[0] as LaneTask), agentId: "held" };
    scheduler.addQueued(task);
    const claim = start();
    if (claim !== null) scheduler.confirmStart(claim, task);
  }
  for (const task of tasks) scheduler.addQueued(task);
  const running: LaneTask[] = [];
  return () =>
    measureSlice(driver, () => {
      const claim = start();
      if (claim === null) return undefined;
      const { sql, parameters } = claimSql(claim.filter);
      const row = driver.get(sql, 1, ...parameters);
      const task = { tenant: claim.filter.tenant, agentId: String(row?.["agent_id"]), provider: PROVIDER, parentTaskId: null };
      scheduler.confirmStart(claim, task);
      running.push(task);
      if (running.length === MAX_CONCURRENT) {
        const ended = running.shift() as LaneTask;
        scheduler.releaseSlot(ended);
        // It is back in the queue after the slice.
        scheduler.addQueued(ended);
      }
      return row;
    });
}

async function measureSlice(driver: SqliteDriver, claim: () => unknown): Promise<number> {
  const microseconds = await driver.write(() => {
    const start = process.cpuUsage();
    for (let count = 0; count < SLICE; count += 1) if (claim() === undefined) throw new Error("A claim returned no task.");
    const { user, system } = process.cpuUsage(start);
    return user + system;
  });
  await driver.write(() => driver.run("UPDATE task SET state = 'queued', started_at = NULL WHERE state = 'running'"));
  return microseconds / SLICE;
}
