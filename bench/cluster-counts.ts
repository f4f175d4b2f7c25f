import { setTimeout as delay } from "node:timers/promises";
import { type SharedPostgres, startCluster } from "./cluster-servers.ts";
import type { SliceResult } from "./driver.ts";
import type { PinnedProcess } from "./pinned-process.ts";
import { readCpuTimeWithChildrenMs } from "./process-use.ts";

/** What nodes without tasks cost the server, and what a task costs it. */
export interface ClusterCounts {
  nodes: number;
  idleStatementsPerSecond: number;
  idleTransactionsPerSecond: number;
  /** CPU time of the nodes. */
  idleNodeCpuMsPerSecond: number;
  idleServerCpuMsPerSecond: number;
  nodeCpuMsPerTask: number;
  serverCpuMsPerTask: number;
  statementsPerTask: number;
  transactionsPerTask: number;
  /** The statements with the longest total time. */
  statements: { text: string; callsPerTask: number; msPerTask: number }[];
}

/** Statements in the profile. */
const TOP = 12;
const SETTLE_MS = 5000;

/** Counts on a server with pg_stat_statements, which is slower, so that times are not measured there. */
export async function countOperations(
  driver: PinnedProcess,
  postgres: SharedPostgres,
  nodes: number,
  { tasks, idleMs }: { tasks: number; idleMs: number },
): Promise<ClusterCounts> {
  const cluster = await startCluster("bridge", nodes, postgres);
  const database = `bridge_${nodes}`;
  const ofDatabase = `FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = '${database}')`;
  const read = () => ({
    statements: Number(postgres.query(`SELECT coalesce(sum(calls), 0) ${ofDatabase}`)),
    transactions: Number(postgres.query(`SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '${database}'`)),
    serverCpuMs: readCpuTimeWithChildrenMs(postgres.pid),
    nodeCpuMs: cluster.target.pids.filter((pid) => pid !== postgres.pid).reduce((sum, pid) => sum + readCpuTimeWithChildrenMs(pid), 0),
    atMs: performance.now(),
  });
  try {
    await delay(SETTLE_MS);
    const before = read();
    await delay(idleMs);
    const after = read();
    const perSecond = (kind: Exclude<keyof typeof after, "atMs">) => ((after[kind] - before[kind]) * 1000) / (after.atMs - before.atMs);
    const slice = { inFlight: 32, leastTasks: tasks, leastMs: 0 };
    await driver.request<SliceResult>({ target: cluster.target, slice });
    postgres.query("SELECT pg_stat_statements_reset()");
    const start = read();
    const { dispatched, faults } = await driver.request<SliceResult>({ target: cluster.target, slice });
    if (faults.length > 0) throw new Error(faults.join("; "));
    // The server publishes the transactions of a connection up to a second later.
    await delay(2000);
    const end = read();
    const top = postgres.query(
      `SELECT calls, total_exec_time, left(regexp_replace(query, '\\s+', ' ', 'g'), 70) ${ofDatabase} ORDER BY total_exec_time DESC LIMIT ${TOP}`,
    );
    return {
      nodes,
      idleStatementsPerSecond: perSecond("statements"),
      idleTransactionsPerSecond: perSecond("transactions"),
      idleNodeCpuMsPerSecond: perSecond("nodeCpuMs"),
      idleServerCpuMsPerSecond: perSecond("serverCpuMs"),
      nodeCpuMsPerTask: (end.nodeCpuMs - start.nodeCpuMs) / dispatched,
      serverCpuMsPerTask: (end.serverCpuMs - start.serverCpuMs) / dispatched,
      statementsPerTask: (end.statements - start.statements) / dispatched,
      transactionsPerTask: (end.transactions - start.transactions) / dispatched,
      statements: top.split("\n").map((line) => {
        const [calls, ms, ...text] = line.split("|");
        return { text: text.join("|"), callsPerTask: Number(calls) / dispatched, msPerTask: Number(ms) / dispatched };
      }),
    };
  } finally {
    await cluster.stop();
  }
}
