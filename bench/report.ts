import { cpus } from "node:os";
import type { SliceResult } from "./driver.ts";
import type { ServerName } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Goals of Bridge, compared with the floor. */
export const MIN_RATE_RATIO = 0.5;
export const MAX_CPU_RATIO = 2;
/** Goal for the accept with one client, compared with one fsync and one bare request. */
export const MAX_ACCEPT_RATIO = 4;

/** Numbers of tasks in flight with a goal for throughput and CPU time. */
const GOAL_IN_FLIGHT = [32, 256];
/** Above these, the results depend on the machine's other work. */
const NOISY_LOAD = 2;
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
}

interface Goal {
  what: string;
  goal: string;
  ratios: readonly number[];
  isMet(ratio: number): boolean;
}

/** Renders one run as a Markdown page. `met` is true if the run is complete and Bridge reaches every goal. */
export function renderReport(
  results: readonly ServerResults[],
  { loadBefore, fsyncMs }: { loadBefore: number; fsyncMs: readonly number[] },
): { text: string; met: boolean } {
  const faults = results.flatMap(({ name, slices }) =>
    [...slices.values()].flat().flatMap((slice) => slice.faults.map((fault) => `${name}: ${fault}`)),
  );
  const goals = listGoals(results, fsyncMs);
  const met = faults.length === 0 && goals.length > 0 && goals.every(({ ratios, isMet }) => isMet(median(ratios)));
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
    "| ratio | goal | result | |",
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
    "Counted with 32 tasks in flight, in a separate pass on instrumented servers.",
    "",
    "| server | statements | promises | written KiB | of these to disk, KiB |",
    "|---|---|---|---|---|",
    ...results.map(renderCounts),
    "",
    "[README.md](README.md#method) describes the method.",
    "",
  ];
  return { text: lines.join("\n"), met };
}

function listGoals(results: readonly ServerResults[], fsyncMs: readonly number[]): Goal[] {
  const bridge = results.find(({ name }) => name === "bridge");
  if (bridge === undefined) return [];
  const bareAccept = findSlices(results, "bare", 1).map((slice) => slice.acceptP50Ms);
  const goals: Goal[] = [
    ...GOAL_IN_FLIGHT.map((inFlight) => ({
      what: `CPU per task x floor, ${inFlight} in flight`,
      goal: `at most ${MAX_CPU_RATIO}`,
      ratios: computeRatiosToFloor(bridge, results, inFlight, "cpuMsPerTask"),
      isMet: (ratio: number) => ratio <= MAX_CPU_RATIO,
    })),
    ...GOAL_IN_FLIGHT.map((inFlight) => ({
      what: `tasks/s x floor, ${inFlight} in flight`,
      goal: `at least ${MIN_RATE_RATIO}`,
      ratios: computeRatiosToFloor(bridge, results, inFlight, "tasksPerSecond"),
      isMet: (ratio: number) => ratio >= MIN_RATE_RATIO,
    })),
  ];
  if (bareAccept.length === 0) return goals;
  const accept = (bridge.slices.get(1) ?? []).map(
    (slice, index) => slice.acceptP50Ms / (valueAt(fsyncMs, index) + valueAt(bareAccept, index)),
  );
  const isMet = (ratio: number) => ratio <= MAX_ACCEPT_RATIO;
  return [
    ...goals,
    { what: "accept p50 / (fsync + bare request p50), 1 in flight", goal: `at most ${MAX_ACCEPT_RATIO}`, ratios: accept, isMet },
  ];
}

function renderGoal({ what, goal, ratios, isMet }: Goal, complete: boolean): string {
  const verdict = isMet(median(ratios)) ? "goal met" : "**goal missed**";
  return `| ${what} | ${goal} | ${describeRatios(ratios)} | ${complete ? verdict : "invalid"} |`;
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

function renderCounts({ name, absence, counts }: ServerResults): string {
  if (counts === null) return `| ${name} | ${absence === null ? "not counted" : "absent"} | | | |`;
  const { statements, promises, writtenKiB, diskKiB } = counts;
  return `| ${name} | ${statements.toFixed(1)} | ${promises.toFixed(0)} | ${writtenKiB.toFixed(1)} | ${diskKiB.toFixed(1)} |`;
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

const describeRatios = (ratios: readonly number[]): string =>
  `${median(ratios).toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)} to ${quantile(ratios, 0.9).toFixed(2)})`;

const valueAt = (values: readonly number[], index: number): number => values[index] ?? Number.NaN;
