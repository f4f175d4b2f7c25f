import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { measureClaims } from "./cluster-claims.ts";
import { type ClusterCounts, countOperations } from "./cluster-counts.ts";
import { type EventStage, type EventTimes, measureEvents } from "./cluster-events.ts";
import { type ClusterResults, LONG_QUEUE, renderClusterReport, SHORT_QUEUE, type Subject } from "./cluster-report.ts";
import { type ClusterServers, type SharedPostgres, startCluster, startSharedPostgres } from "./cluster-servers.ts";
import type { SliceResult } from "./driver.ts";
import type { Slice } from "./measure-slice.ts";
import type { PinnedProcess } from "./pinned-process.ts";
import { explainAbsence, startDriver, startServer } from "./servers.ts";
import { median } from "./statistics.ts";

/** Measures one and three nodes on PostgreSQL, compared with Bridge on SQLite and with pg-boss and BullMQ on the same PostgreSQL server. */
const { values: options } = parseArgs({
  options: {
    slices: { type: "string", default: "5" },
    /** Minimum duration of a slice. */
    seconds: { type: "string", default: "2" },
    "no-file": { type: "boolean", default: false },
    /** Checks in about two minutes that the benchmark works; its figures are not valid. */
    quick: { type: "boolean", default: false },
  },
});
const plan = options.quick
  ? { slices: 1, warmUpTasks: 200, leastMs: 100, leastTasks: 40, claimSlices: 1, tasks: 200, idleMs: 3000, eventMs: 500 }
  : {
      slices: Number(options.slices),
      warmUpTasks: 1000,
      leastMs: Number(options.seconds) * 1000,
      leastTasks: 500,
      claimSlices: 15,
      tasks: 2000,
      idleMs: 15_000,
      eventMs: 4000,
    };
const IN_FLIGHT: Record<Subject, readonly number[]> = {
  sqlite: [1, 32, 256],
  "one node": [1, 32, 256],
  "three nodes": [1, 32, 256],
  "pg-boss": [32, 256],
  "pg-boss, three processes": [32, 256],
  bullmq: [32, 256],
  "bullmq, three processes": [32, 256],
  bare: [1],
};
const PEERS = [
  ["pg-boss", "pg-boss"],
  ["bullmq-postgres", "bullmq"],
] as const;
const COMMITS = 200;

const loads = [loadavg()[0] ?? Number.NaN];
const driver = startDriver();
const results: ClusterResults = {
  loads,
  postgresVersion: "",
  slices: new Map(),
  commitMs: [],
  events: [],
  counts: [],
  claims: new Map(),
  absence: explainAbsence("pg-boss") ?? explainAbsence("bullmq-postgres"),
  isQuick: options.quick,
};
const hasPeers = results.absence === null;
try {
  await runWithPostgres(false, (postgres) => measure(postgres, driver));
  await runWithPostgres(true, async (postgres) => {
    for (const nodes of [1, 3]) results.counts.push(await logResult(countOperations(driver, postgres, nodes, plan)));
  });
} finally {
  await driver.stop();
}
loads.push(loadavg()[0] ?? Number.NaN);
const text = renderClusterReport(results);
console.log(`\n${text}`);
if (!(options.quick || options["no-file"])) writeFileSync(path.join(import.meta.dirname, "cluster.md"), text);

async function runWithPostgres(counts: boolean, work: (postgres: SharedPostgres) => Promise<void>): Promise<void> {
  const postgres = await startSharedPostgres({ counts });
  try {
    await work(postgres);
  } finally {
    await postgres.stop();
  }
}

/** Keeps all servers running and measures them in turn, so that a change in the machine's load affects all of them. */
async function measure(postgres: SharedPostgres, driver: PinnedProcess): Promise<void> {
  results.postgresVersion = postgres.version;
  const servers = new Map<Subject, ClusterServers>();
  const run = (subject: Subject, slice: Slice) =>
    driver.request<SliceResult>({ target: (servers.get(subject) as ClusterServers).target, slice });
  try {
    servers.set("sqlite", await startServer("bridge"));
    servers.set("one node", await startCluster("bridge", 1, postgres));
    servers.set("three nodes", await startCluster("bridge", 3, postgres));
    for (const [peer, name] of hasPeers ? PEERS : []) {
      servers.set(name, await startCluster(peer, 1, postgres));
      servers.set(`${name}, three processes`, await startCluster(peer, 3, postgres));
    }
    servers.set("bare", await startServer("bare"));
    for (const subject of servers.keys()) {
      const { faults } = await run(subject, { inFlight: 256, leastTasks: plan.warmUpTasks, leastMs: 0 });
      console.log(`warmed up ${subject} ${faults.join("; ")}`);
    }
    const probe = postgres.createDatabase("probe");
    const subjects = [...servers.keys()];
    for (let turn = 0; turn < plan.slices; turn += 1) {
      results.commitMs.push(await measureCommitMs(probe));
      for (const inFlight of [1, 32, 256]) {
        for (const subject of turn % 2 === 0 ? subjects : subjects.toReversed()) {
          if (!IN_FLIGHT[subject].includes(inFlight)) continue;
          const leastTasks = Math.max(plan.leastTasks, options.quick ? 0 : inFlight * 8);
          const result = await run(subject, { inFlight, leastTasks, leastMs: plan.leastMs });
          const key = `${subject} ${inFlight}` as const;
          results.slices.set(key, [...(results.slices.get(key) ?? []), result]);
          const { tasksPerSecond, cpuMsPerTask, faults } = result;
          console.log(`${turn + 1}: ${key}: ${tasksPerSecond.toFixed(0)}/s ${cpuMsPerTask.toFixed(2)} ms CPU ${faults.join("; ")}`);
        }
      }
      loads.push(loadavg()[0] ?? Number.NaN);
    }
    const { target } = servers.get("three nodes") as ClusterServers;
    for (const stage of listStages(plan.eventMs)) results.events.push(await logResult(measureEvents(target, stage)));
  } finally {
    for (const server of servers.values()) await server.stop();
  }
  const queues = new Map([SHORT_QUEUE, LONG_QUEUE].map((queued) => [queued, postgres.createDatabase(`queue_${queued}`)]));
  results.claims = await logResult(measureClaims(queues, plan.claimSlices));
}

function listStages(ms: number): EventStage[] {
  return [
    { what: "idle", tasks: 1, pace: { burst: 1, everyMs: 50, turns: ms / 50 } },
    { what: "1,600/s", tasks: 8, pace: { burst: 2, everyMs: 10, turns: ms / 10 } },
    { what: "16,000/s", tasks: 8, pace: { burst: 20, everyMs: 10, turns: ms / 10 } },
  ];
}

/** Measures the median time of a transaction that inserts one row, with one client. */
async function measureCommitMs(url: string): Promise<number> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query("CREATE TABLE IF NOT EXISTS probe (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data text NOT NULL)");
    const times: number[] = [];
    for (let count = 0; count < COMMITS; count += 1) {
      const startedAt = performance.now();
      await client.query({ name: "probe", text: "INSERT INTO probe (data) VALUES ($1)", values: ["x".repeat(1000)] });
      times.push(performance.now() - startedAt);
    }
    return median(times);
  } finally {
    await client.end();
  }
}

async function logResult<Result extends ClusterCounts | EventTimes | ClusterResults["claims"]>(measured: Promise<Result>): Promise<Result> {
  const result = await measured;
  console.log(result);
  return result;
}
