import { cpus } from "node:os";
import type { ClaimTimes } from "./cluster-claims.ts";
import type { ClusterCounts } from "./cluster-counts.ts";
import type { EventTimes } from "./cluster-events.ts";
import type { SliceResult } from "./driver.ts";
import { describeRatios, NOISY_LOAD } from "./report.ts";
import { median } from "./statistics.ts";

type Peer = "pg-boss" | "bullmq";
export type Subject = "sqlite" | "one node" | "three nodes" | Peer | `${Peer}, three processes` | "bare";

/** Goals for one node on PostgreSQL, compared with Bridge on SQLite. */
const MIN_RATE_RATIO = 0.5;
const MAX_CPU_RATIO = 2.5;
/** Goal for the accept with one client, compared with a transaction of one row and a bare request. */
const MAX_ACCEPT_RATIO = 3;
/** Goal for the CPU time of a task with three nodes, compared with one node. */
const MAX_THREE_NODES_CPU_RATIO = 1.25;
/** Goals for the tasks per second of three nodes, compared with a peer in three processes. */
const MIN_PEER_RATIO: Record<Peer, number> = { "pg-boss": 3, bullmq: 2 };
const PEERS = ["pg-boss", "bullmq"] as const;
/** Goals for events that a reader on another node receives. */
const MIN_EVENTS_PER_SECOND = 15_000;
const MAX_EVENT_P99_MS = 100;
/** Goal for the p50 on idle nodes: two transactions and this time. */
const MAX_IDLE_EVENT_MS = 10;
/** Goal for three nodes without tasks. */
const MAX_IDLE_STATEMENTS = 20;
/** Goal for the p99 of a claim with a long queue, compared with a short one. */
const MAX_CLAIM_RATIO = 2;
export const SHORT_QUEUE = 1000;
export const LONG_QUEUE = 100_000;

export interface ClusterResults {
  /** Load averages before, during and after the run. */
  loads: number[];
  postgresVersion: string;
  /** By subject and tasks in flight; slices with the same index were measured one after the other. */
  slices: Map<`${Subject} ${number}`, SliceResult[]>;
  /** One value per turn. */
  commitMs: number[];
  events: EventTimes[];
  counts: ClusterCounts[];
  claims: ClaimTimes;
  /** Why the peers were not measured; null if they were. */
  absence: string | null;
  isQuick: boolean;
}

/** Renders one run as a Markdown page. */
export function renderClusterReport(results: ClusterResults): string {
  const { loads, slices, commitMs, counts, claims, events } = results;
  const faults = [...slices].flatMap(([name, all]) => all.flatMap((slice) => slice.faults.map((fault) => `${name}: ${fault}`)));
  const missing = events.filter((stage) => stage.missing > 0).map((stage) => `${stage.missing} events of ${stage.what}`);
  const incomplete = [...faults, ...missing];
  return [
    "# One and three nodes on PostgreSQL",
    "",
    ...(results.isQuick ? ["**The figures of a quick run are not valid.**", ""] : []),
    `Node ${process.versions.node}, PostgreSQL ${results.postgresVersion}, ${cpus().length} cores, ${commitMs.length} slices; load average ${loads[0]?.toFixed(2)} before the run and at most ${Math.max(...loads).toFixed(2)} during it; median transaction of one row ${median(commitMs).toFixed(2)} ms.`,
    // The benchmark itself has a load of about two.
    ...((loads[0] ?? 0) > NOISY_LOAD
      ? ["**Noisy**: other work shared the machine. Ratios compare neighboring slices; times are too long."]
      : []),
    incomplete.length === 0
      ? "Complete: every slice received 20 events and one callback per task, without errors."
      : `**INCOMPLETE, so no figure is valid**: ${incomplete.slice(0, 5).join("; ")}.`,
    "",
    "A ratio is the median of the slices (p10 to p90). All servers and PostgreSQL (`fsync=on`) share one core, so the ratios compare work, not the speed of several hosts.",
    "",
    "## Goals",
    "",
    "| measurement | goal | result | |",
    "|---|---|---|---|",
    ...listGoals(results).map(({ what, goal, result, isMet }) => `| ${what} | ${goal} | ${result} | ${describeVerdict(isMet)} |`),
    "",
    "## Speed",
    "",
    "Medians of the slices. CPU time includes the PostgreSQL server.",
    "",
    "| server | in flight | tasks/s | CPU ms/task | accept p50 / p99 ms | end to end p50 / p99 ms |",
    "|---|--:|--:|--:|--:|--:|",
    ...[...slices]
      .toSorted(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
      .map(([name, all]) => renderSpeed(name, all)),
    ...(results.absence === null ? [] : ["", `pg-boss and BullMQ are absent: ${results.absence}`]),
    "",
    "## Events of one node, read on another",
    "",
    "| emitted | seen/s | delay p50 / p99 ms |",
    "|---|--:|--:|",
    ...events.map(
      ({ what, seenPerSecond, p50Ms, p99Ms }) => `| ${what} | ${seenPerSecond.toFixed(0)} | ${p50Ms.toFixed(0)} / ${p99Ms.toFixed(0)} |`,
    ),
    "",
    "## Claims",
    "",
    "Every second queued task belongs to another node. A claim includes its commit.",
    "",
    "| queue | p50 ms | p99 ms |",
    "|--:|--:|--:|",
    ...[...claims].map(([queued, { p50Ms, p99Ms }]) => `| ${queued.toLocaleString("en")} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} |`),
    "",
    "## Operations on the server",
    "",
    "Counted with pg_stat_statements on a separate server, with 32 tasks in flight.",
    "",
    "| nodes | statements per task | transactions per task | CPU ms per task, nodes / server | idle statements/s | idle transactions/s | idle CPU ms/s, nodes / server |",
    "|--:|--:|--:|--:|--:|--:|--:|",
    ...counts.map(
      (one) =>
        `| ${one.nodes} | ${one.statementsPerTask.toFixed(1)} | ${one.transactionsPerTask.toFixed(1)} | ${one.nodeCpuMsPerTask.toFixed(2)} / ${one.serverCpuMsPerTask.toFixed(2)} | ${one.idleStatementsPerSecond.toFixed(1)} | ${one.idleTransactionsPerSecond.toFixed(1)} | ${one.idleNodeCpuMsPerSecond.toFixed(1)} / ${one.idleServerCpuMsPerSecond.toFixed(1)} |`,
    ),
    ...counts.flatMap(renderProfile),
    "",
    "[README.md](README.md#several-nodes) describes the method.",
    "",
  ].join("\n");
}

interface Goal {
  what: string;
  goal: string;
  result: string;
  /** Null if it was not measured. */
  isMet: boolean | null;
}

function listGoals(results: ClusterResults): Goal[] {
  const { slices, commitMs, events, counts, claims } = results;
  const values = (subject: Subject, inFlight: number, kind: "tasksPerSecond" | "cpuMsPerTask" | "acceptP50Ms"): number[] =>
    (slices.get(`${subject} ${inFlight}`) ?? []).map((slice) => slice[kind]);
  const divide = (above: readonly number[], below: readonly number[]): number[] =>
    above.slice(0, below.length).map((value, index) => value / (below[index] ?? Number.NaN));
  const compare = (kind: "tasksPerSecond" | "cpuMsPerTask", above: Subject, below: Subject, inFlight: number) =>
    divide(values(above, inFlight, kind), values(below, inFlight, kind));
  const atMost = (what: string, ratios: readonly number[], limit: number) =>
    describeGoal(what, `at most ${limit}`, ratios, (value) => value <= limit);
  const atLeast = (what: string, ratios: readonly number[], limit: number) =>
    describeGoal(what, `at least ${limit}`, ratios, (value) => value >= limit);
  const bare = values("bare", 1, "acceptP50Ms");
  const accept = divide(
    values("one node", 1, "acceptP50Ms"),
    commitMs.map((ms, index) => ms + (bare[index] ?? Number.NaN)),
  );
  const [idle, , busy] = events;
  const maxIdleMs = 2 * median(commitMs) + MAX_IDLE_EVENT_MS;
  const single = (value: number | undefined) => (value === undefined ? [] : [value]);
  const idleStatements = counts.find(({ nodes }) => nodes === 3)?.idleStatementsPerSecond;
  const [short, long] = [claims.get(SHORT_QUEUE), claims.get(LONG_QUEUE)];
  const both = [32, 256];
  return [
    ...both.map((n) =>
      atLeast(`tasks/s, one node x SQLite, ${n} in flight`, compare("tasksPerSecond", "one node", "sqlite", n), MIN_RATE_RATIO),
    ),
    ...both.map((n) =>
      atMost(`CPU per task, one node and server x SQLite, ${n} in flight`, compare("cpuMsPerTask", "one node", "sqlite", n), MAX_CPU_RATIO),
    ),
    atMost("accept p50 / (transaction of one row + bare request p50), 1 in flight", accept, MAX_ACCEPT_RATIO),
    ...both.map((n) =>
      atMost(
        `CPU per task, three nodes x one node, ${n} in flight`,
        compare("cpuMsPerTask", "three nodes", "one node", n),
        MAX_THREE_NODES_CPU_RATIO,
      ),
    ),
    ...PEERS.flatMap((peer) =>
      both.map((n) =>
        atLeast(
          `tasks/s, three nodes x ${peer} in three processes, ${n} in flight`,
          compare("tasksPerSecond", "three nodes", `${peer}, three processes`, n),
          MIN_PEER_RATIO[peer],
        ),
      ),
    ),
    ...PEERS.flatMap((peer) =>
      both.map((n) => withoutGoal(`tasks/s, one node x ${peer}, ${n} in flight`, compare("tasksPerSecond", "one node", peer, n))),
    ),
    atLeast("events/s seen on another node", single(busy?.seenPerSecond), MIN_EVENTS_PER_SECOND),
    atMost("p99 of their delay, ms", single(busy?.p99Ms), MAX_EVENT_P99_MS),
    atMost("p50 of the delay on idle nodes, ms", single(idle?.p50Ms), Number(maxIdleMs.toFixed(1))),
    atMost("statements/s of three idle nodes", single(idleStatements), MAX_IDLE_STATEMENTS),
    atMost(
      `claim p99 with ${LONG_QUEUE.toLocaleString("en")} queued tasks x ${SHORT_QUEUE.toLocaleString("en")}`,
      short && long ? [long.p99Ms / short.p99Ms] : [],
      MAX_CLAIM_RATIO,
    ),
  ];
}

const describeGoal = (what: string, goal: string, values: readonly number[], isMet: (value: number) => boolean): Goal => ({
  what,
  goal,
  result: values.length === 0 ? "" : values.length === 1 ? (values[0] as number).toFixed(2) : describeRatios(values),
  isMet: values.length === 0 ? null : isMet(median(values)),
});

const withoutGoal = (what: string, values: readonly number[]): Goal => ({
  ...describeGoal(what, "no goal", values, () => true),
  isMet: null,
});

const describeVerdict = (isMet: boolean | null): string => (isMet === null ? "" : isMet ? "met" : "**missed**");

function renderSpeed(name: string, slices: readonly SliceResult[]): string {
  const middle = (kind: Exclude<keyof SliceResult, "faults">, digits: number) => median(slices.map((slice) => slice[kind])).toFixed(digits);
  const cells = [
    name.replace(/ (\d+)$/, " | $1"),
    middle("tasksPerSecond", 0),
    middle("cpuMsPerTask", 2),
    `${middle("acceptP50Ms", 2)} / ${middle("acceptP99Ms", 1)}`,
    `${middle("endToEndP50Ms", 2)} / ${middle("endToEndP99Ms", 1)}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

function renderProfile({ nodes, statements }: ClusterCounts): string[] {
  return [
    "",
    `Statements with the longest total time, ${nodes === 1 ? "one node" : `${nodes} nodes`}:`,
    "",
    "| statement | calls per task | ms per task |",
    "|---|--:|--:|",
    ...statements.map(
      ({ text, callsPerTask, msPerTask }) =>
        `| \`${text.replaceAll("|", "\\|").trim()}\` | ${callsPerTask.toFixed(2)} | ${msPerTask.toFixed(3)} |`,
    ),
  ];
}
