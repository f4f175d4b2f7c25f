import { cpus } from "node:os";
import type { SliceResult } from "./driver.ts";
import type { ServerName } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Numbers of tasks in flight with a goal for throughput and CPU time. */
const GOAL_IN_FLIGHT = [32, 256] as const;
/** Goals for the CPU time per task, compared with the floor, by tasks in flight. */
export const MAX_CPU_RATIOS = { 32: 2.2, 256: 2 } as const;
/** Goal for the CPU time per task with a budget that the task matches, compared with the time without one. */
export const MAX_BUDGET_RATIO = 1.1;
/** Goals for the tasks per second, compared with the floor: the median and the p10 of the slices. */
export const MIN_RATE_RATIO = 0.5;
export const MIN_RATE_RATIO_P10 = 0.45;
/** Goal for the tasks per second, compared with BullMQ that runs an fsync per second. */
export const MIN_BULLMQ_RATIO = 1.7;
/** Goal for the accept with one client, compared with one fsync and one bare request. */
export const MAX_ACCEPT_RATIO = 4;
/** Goal for the calls per task that wait for the disk, with one client. */
export const MAX_SYNCS = 3;
/** Above these, the results depend on the machine's other work. */
export const NOISY_LOAD = 2;
const NOISY_SPREAD = 1.5;

export interface CountsPerTask {
  statements: number;
  promises: number;
  writtenKiB: number;
  diskKiB: number;
}

export interface ServerResults {
  name: ServerName;
  /** Why the server was not measured; null if it was. */
  absence: string | null;
  /** By tasks in flight; slices with the same index were measured one after the other. */
  slices: Map<number, readonly SliceResult[]>;
  counts: CountsPerTask | null;
  /** Calls per task that wait for the disk, with one task in flight; null if they were not counted. */
  syncs: number | null;
}

interface Goal {
  what: string;
  goal: string;
  /** One value per slice; empty if it was not measured. */
  values: readonly number[];
  isMet(values: readonly number[]): boolean;
}

/** The conditions of a run. */
interface Conditions {
  loadBefore: number;
  fsyncMs: readonly number[];
  /** Why the calls that wait for the disk were not counted; null if they were. */
  missingTracer: string | null;
}

/** Renders one run as a Markdown page. `met` is true if the run is complete and Bridge reaches every goal. */
export function renderReport(
  results: readonly ServerResults[],
  { loadBefore, fsyncMs, missingTracer }: Conditions,
): { text: string; met: boolean } {
  const faults = results.flatMap(({ name, slices }) =>
    [...slices.values()].flat().flatMap((slice) => slice.faults.map((fault) => `${name}: ${fault}`)),
  );
  const goals = listGoals(results, fsyncMs);
  const met = faults.length === 0 && goals.length > 0 && goals.every(({ values, isMet }) => isMet(values));
  const lines = [
    "# Bench results",
    "",
    `Node ${process.versions.node}, ${cpus().length} cores, ${fsyncMs.length} slices; load average before the run ${loadBefore.toFixed(2)}; median fsync of 4 KiB ${median(fsyncMs).toFixed(2)} ms.`,
    ...describeNoise(results, loadBefore),
    faults.length === 0
      ? "Complete: every slice received 20 events and one callback per task, without errors."
      : `**INCOMPLETE, so no figure is valid**: ${faults.slice(0, 5).join("; ")}.`,
    "",
    "A ratio compares a server's slice with the floor's slice of the same turn: median (p10 to p90 of the slices).",
    "",
    "## Goals of Bridge",
    "",
    "| measurement | goal | result | |",
    "|---|---|---|---|",
    ...goals.map((goal) => renderGoal(goal, faults.length === 0)),
    "",
    ...renderComparisons(results),
    "## Speed",
    "",
    "Medians of the slices.",
    "",
    "| server | in flight | tasks/s | tasks/s x floor | CPU ms/task | CPU x floor | accept p50 / p99 ms | end to end p50 / p99 ms |",
    "|---|---|---|---|---|---|---|---|",
    ...results.flatMap((server) => renderSpeed(server, results)),
    "",
    "## Operations per task",
    "",
    `Counted with 32 tasks in flight, in a separate pass on instrumented servers. Syncs are calls that wait for the disk, counted with one task in flight in another pass; goal of Bridge: at most ${MAX_SYNCS}.`,
    "",
    "| server | statements | promises | written KiB | of these to disk, KiB | syncs |",
    "|---|---|---|---|---|---|",
    ...results.map((server) => renderCounts(server, missingTracer)),
    "",
    "[README.md](README.md#method) describes the method.",
    "",
  ];
  return { text: lines.join("\n"), met };
}

function listGoals(results: readonly ServerResults[], fsyncMs: readonly number[]): Goal[] {
  const bridge = results.find(({ name }) => name === "bridge");
  if (bridge === undefined) return [];
  const withBudget = results.find(({ name }) => name === "bridge-budget");
  const bareAccept = findSlices(results, "bare", 1).map((slice) => slice.acceptP50Ms);
  const accept = bareAccept.length === 0 ? [] : findSlices(results, "bridge", 1).map((slice) => slice.acceptP50Ms);
  const compareWith = (name: ServerName, inFlight: number, kind: NumericKind): number[] => {
    const base = results.find((server) => server.name === name);
    return base === undefined || !base.slices.has(inFlight) ? [] : computeRatios(base, bridge, inFlight, kind);
  };
  return [
    ...GOAL_IN_FLIGHT.map((inFlight) => ({
      what: `CPU per task x floor, ${inFlight} in flight`,
      goal: `at most ${MAX_CPU_RATIOS[inFlight]}`,
      values: compareWith("floor", inFlight, "cpuMsPerTask"),
      isMet: (ratios: readonly number[]) => median(ratios) <= MAX_CPU_RATIOS[inFlight],
    })),
    ...GOAL_IN_FLIGHT.map((inFlight) => ({
      what: `tasks/s x floor, ${inFlight} in flight`,
      goal: `at least ${MIN_RATE_RATIO}, p10 at least ${MIN_RATE_RATIO_P10}`,
      values: compareWith("floor", inFlight, "tasksPerSecond"),
      isMet: (ratios: readonly number[]) => median(ratios) >= MIN_RATE_RATIO && quantile(ratios, 0.1) >= MIN_RATE_RATIO_P10,
    })),
    ...GOAL_IN_FLIGHT.map((inFlight) => ({
      what: `tasks/s x bullmq-everysec, ${inFlight} in flight`,
      goal: `at least ${MIN_BULLMQ_RATIO}`,
      values: compareWith("bullmq-everysec", inFlight, "tasksPerSecond"),
      isMet: (ratios: readonly number[]) => median(ratios) >= MIN_BULLMQ_RATIO,
    })),
    ...GOAL_IN_FLIGHT.map((inFlight) => ({
      what: `CPU per task with a matching budget x without, ${inFlight} in flight`,
      goal: `at most ${MAX_BUDGET_RATIO}`,
      values: withBudget === undefined ? [] : computeRatios(bridge, withBudget, inFlight, "cpuMsPerTask"),
      isMet: (ratios: readonly number[]) => median(ratios) <= MAX_BUDGET_RATIO,
    })),
    {
      what: "accept p50 / (fsync + bare request p50), 1 in flight",
      goal: `at most ${MAX_ACCEPT_RATIO}`,
      values: accept.map((ms, index) => ms / (valueAt(fsyncMs, index) + valueAt(bareAccept, index))),
      isMet: (ratios: readonly number[]) => median(ratios) <= MAX_ACCEPT_RATIO,
    },
    {
      what: "syncs per task, 1 in flight",
      goal: `at most ${MAX_SYNCS}`,
      values: bridge.syncs === null ? [] : [bridge.syncs],
      isMet: (syncs: readonly number[]) => median(syncs) <= MAX_SYNCS,
    },
  ];
}

function renderGoal({ what, goal, values, isMet }: Goal, complete: boolean): string {
  if (values.length === 0) return `| ${what} | ${goal} | | **not measured** |`;
  const verdict = isMet(values) ? "goal met" : "**goal missed**";
  const result = values.length === 1 ? median(values).toFixed(2) : describeRatios(values);
  return `| ${what} | ${goal} | ${result} | ${complete ? verdict : "invalid"} |`;
}

/** Compares Bridge with its other checkouts; empty if there is none. */
function renderComparisons(results: readonly ServerResults[]): string[] {
  const bridge = results.find(({ name }) => name === "bridge");
  const others = results.filter(({ name }) => name.startsWith("bridge@"));
  if (bridge === undefined || others.length === 0) return [];
  const rows = others.flatMap((other) =>
    [...bridge.slices.keys()].map((inFlight) => {
      const ratios = (kind: NumericKind) => describeRatios(computeRatios(other, bridge, inFlight, kind));
      return `| ${other.name} | ${inFlight} | ${ratios("cpuMsPerTask")} | ${ratios("tasksPerSecond")} |`;
    }),
  );
  return [
    "## This checkout compared with others",
    "",
    "| other checkout | in flight | CPU per task x other | tasks/s x other |",
    "|---|---|---|---|",
    ...rows,
    "",
  ];
}

function renderSpeed(server: ServerResults, results: readonly ServerResults[]): string[] {
  if (server.absence !== null) return [`| ${server.name} | absent: ${server.absence} | | | | | | |`];
  return [...server.slices].map(([inFlight, slices]) => {
    const middle = (kind: NumericKind, digits: number) => median(slices.map((slice) => slice[kind])).toFixed(digits);
    const toFloor = (kind: NumericKind) =>
      server.name === "bare" ? "" : describeRatios(computeRatiosToFloor(server, results, inFlight, kind));
    const cells = [
      server.name,
      inFlight,
      middle("tasksPerSecond", 0),
      toFloor("tasksPerSecond"),
      middle("cpuMsPerTask", 3),
      toFloor("cpuMsPerTask"),
      `${middle("acceptP50Ms", 2)} / ${middle("acceptP99Ms", 1)}`,
      `${middle("endToEndP50Ms", 2)} / ${middle("endToEndP99Ms", 1)}`,
    ];
    return `| ${cells.join(" | ")} |`;
  });
}

function renderCounts({ name, absence, counts, syncs }: ServerResults, missingTracer: string | null): string {
  if (counts === null) return `| ${name} | ${absence === null ? "not counted" : "absent"} | | | | |`;
  const { statements, promises, writtenKiB, diskKiB } = counts;
  const hasSyncs = name === "floor" || name.startsWith("bridge");
  const syncsCell = syncs?.toFixed(2) ?? (hasSyncs ? `not counted${missingTracer === null ? "" : `, ${missingTracer}`}` : "");
  return `| ${name} | ${statements.toFixed(1)} | ${promises.toFixed(0)} | ${writtenKiB.toFixed(1)} | ${diskKiB.toFixed(1)} | ${syncsCell} |`;
}

function describeNoise(results: readonly ServerResults[], loadBefore: number): string[] {
  const rates = GOAL_IN_FLIGHT.map((inFlight) => findSlices(results, "floor", inFlight).map((slice) => slice.tasksPerSecond));
  const spread = Math.max(...rates.map((values) => quantile(values, 0.9) / quantile(values, 0.1)));
  if (loadBefore <= NOISY_LOAD && spread <= NOISY_SPREAD) return [];
  return [`**Noisy**: other work shared the machine. p90 of the floor's own tasks/s is ${spread.toFixed(2)} times its p10.`];
}

type NumericKind = Exclude<keyof SliceResult, "faults">;

function computeRatiosToFloor(server: ServerResults, results: readonly ServerResults[], inFlight: number, kind: NumericKind): number[] {
  const floor = results.find(({ name }) => name === "floor") as ServerResults;
  return computeRatios(floor, server, inFlight, kind);
}

function computeRatios(base: ServerResults, server: ServerResults, inFlight: number, kind: NumericKind): number[] {
  const values = (base.slices.get(inFlight) ?? []).map((slice) => slice[kind]);
  return (server.slices.get(inFlight) ?? []).map((slice, index) => slice[kind] / valueAt(values, index));
}

const findSlices = (results: readonly ServerResults[], server: ServerName, inFlight: number): readonly SliceResult[] =>
  results.find(({ name }) => name === server)?.slices.get(inFlight) ?? [];

/** Returns the median of ratios, with their p10 and p90. */
export const describeRatios = (ratios: readonly number[]): string =>
  `${median(ratios).toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)} to ${quantile(ratios, 0.9).toFixed(2)})`;

const valueAt = (values: readonly number[], index: number): number => values[index] ?? Number.NaN;
