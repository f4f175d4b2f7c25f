import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { SliceResult } from "./driver.ts";
import type { Slice } from "./measure-slice.ts";
import { explainAbsence, type RunningServer, type ServerName, startDriver, startServer } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/**
 * Measures how fast servers accept tasks: first with clients that only dispatch, to servers that run nothing, then with complete
 * tasks at a fixed rate.
 */
const { values: options } = parseArgs({
  options: {
    slices: { type: "string", default: "9" },
    /** Minimum duration of a slice. */
    seconds: { type: "string", default: "2" },
    /** Comma-separated directories of other checkouts of Bridge, which are measured too. */
    against: { type: "string" },
    /** Comma-separated: `closed`, `open`. */
    parts: { type: "string", default: "closed,open" },
    "no-file": { type: "boolean", default: false },
  },
});
/** Goal: accepted tasks per second of Bridge, compared with the floor. */
const MIN_RATE_RATIO = 0.5;
const CLIENTS = [1, 32, 256];
const RATES = [100, 200];
const WARM_UP: Slice = { inFlight: 256, leastTasks: 3000, leastMs: 0 };
const LEAST_TASKS = 500;

const leastMs = Number(options.seconds) * 1000;
const others = (options.against?.split(",") ?? []).map((checkout): ServerName => `bridge@${path.resolve(checkout)}`);
const driver = startDriver();
const lines: string[] = [];
try {
  const loadBefore = loadavg()[0] ?? Number.NaN;
  lines.push("# How fast tasks are accepted", "");
  lines.push(
    `Node ${process.versions.node}, ${cpus().length} cores, ${options.slices} slices; load average before ${loadBefore.toFixed(2)}.`,
    "",
  );
  if (options.parts.includes("closed")) {
    const slices = CLIENTS.map((inFlight): Slice => ({ inFlight, leastTasks: LEAST_TASKS, leastMs }));
    lines.push(...renderClosedLoop(await measure(["floor", "bridge", ...others], slices, { acceptOnly: true })));
  }
  if (options.parts.includes("open")) {
    const slices = RATES.map((perSecond): Slice => ({ inFlight: perSecond, perSecond, leastTasks: 0, leastMs }));
    lines.push(...renderOpenLoop(await measure(["floor", "bridge", ...others, "bullmq-always"], slices, { acceptOnly: false })));
  }
} finally {
  await driver.stop();
}
console.log(`\n${lines.join("\n")}`);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "accept.md"), lines.join("\n"));

/** The results of one server with one kind of slice, in the order of the turns. */
interface Cell {
  name: ServerName;
  slice: Slice;
  results: SliceResult[];
}

/** Measures the servers in turn, and drops those that cannot run here. */
async function measure(wanted: readonly ServerName[], slices: readonly Slice[], { acceptOnly }: { acceptOnly: boolean }): Promise<Cell[]> {
  const names = wanted.filter((name) => {
    const absence = explainAbsence(name);
    if (absence !== null) console.log(`${name} is absent: ${absence}`);
    return absence === null;
  });
  const cells = slices.flatMap((slice) => names.map((name): Cell => ({ name, slice, results: [] })));
  const servers = new Map<ServerName, RunningServer>();
  try {
    for (const name of names) {
      const server = await startServer(name, { acceptOnly });
      servers.set(name, server);
      await run(server, WARM_UP);
    }
    for (let turn = 0; turn < Number(options.slices); turn += 1) {
      for (const { name, slice, results } of turn % 2 === 0 ? cells : cells.toReversed()) {
        const result = await run(servers.get(name) as RunningServer, slice);
        results.push(result);
        console.log(`slice ${turn + 1}: ${name} ${describeSlice(slice)} ${describeTimes(result)} ${result.faults.join("; ")}`);
        if (result.faults.length > 0) throw new Error(`${name}: ${result.faults[0]}`);
      }
    }
  } finally {
    for (const server of servers.values()) await server.stop();
  }
  return cells;
}

function run({ target }: RunningServer, slice: Slice): Promise<SliceResult> {
  return driver.request<SliceResult>({ target, slice });
}

function describeSlice({ inFlight, perSecond }: Slice): string {
  return perSecond === undefined ? `${inFlight} clients` : `${perSecond}/s`;
}

function describeTimes({ tasksPerSecond, cpuMsPerTask, acceptP50Ms, acceptP99Ms }: SliceResult): string {
  return `${tasksPerSecond.toFixed(0)}/s, ${cpuMsPerTask.toFixed(3)} ms CPU, accept ${acceptP50Ms.toFixed(2)} / ${acceptP99Ms.toFixed(1)} ms`;
}

function renderClosedLoop(cells: readonly Cell[]): string[] {
  const rows = cells.map(({ name, slice, results }) => {
    const floor = cells.find((cell) => cell.name === "floor" && cell.slice === slice)?.results ?? [];
    const rate = ratios(results, floor, "tasksPerSecond");
    const goal = name === "bridge" ? (median(rate) >= MIN_RATE_RATIO ? "met" : "**missed**") : "";
    const columns = [
      name,
      slice.inFlight,
      middle(results, "tasksPerSecond", 0),
      describeRatios(rate),
      middle(results, "cpuMsPerTask", 3),
      describeRatios(ratios(results, floor, "cpuMsPerTask")),
      `${middle(results, "acceptP50Ms", 2)} / ${middle(results, "acceptP99Ms", 1)}`,
      goal,
    ];
    return `| ${columns.join(" | ")} |`;
  });
  return [
    "## Clients that only dispatch",
    "",
    `The servers store tasks and run none. Goal: at least ${MIN_RATE_RATIO} of the floor's tasks per second. Medians of the slices; ratios with p10 to p90.`,
    "",
    "| server | clients | accepted/s | x floor | CPU ms/task | x floor | accept p50 / p99 ms | goal |",
    "|---|--:|--:|--:|--:|--:|--:|---|",
    ...rows,
    "",
  ];
}

function renderOpenLoop(cells: readonly Cell[]): string[] {
  const rows = cells.map(({ name, slice, results }) => {
    const p99 = results.map((result) => result.acceptP99Ms);
    const columns = [
      name,
      slice.perSecond,
      middle(results, "acceptP50Ms", 2),
      `${median(p99).toFixed(1)} (${quantile(p99, 0.1).toFixed(1)} to ${quantile(p99, 0.9).toFixed(1)})`,
      `${middle(results, "endToEndP50Ms", 2)} / ${middle(results, "endToEndP99Ms", 1)}`,
      middle(results, "cpuMsPerTask", 3),
    ];
    return `| ${columns.join(" | ")} |`;
  });
  return [
    "## Complete tasks at a fixed rate",
    "",
    "Dispatches are sent at their due times, also while earlier ones are unanswered. Medians of the slices; p99 with p10 to p90.",
    "",
    "| server | tasks/s | accept p50 ms | accept p99 ms | end to end p50 / p99 ms | CPU ms/task |",
    "|---|--:|--:|--:|--:|--:|",
    ...rows,
    "",
  ];
}

type TimeKind = Exclude<keyof SliceResult, "faults" | "dispatched">;

function middle(results: readonly SliceResult[], kind: TimeKind, digits: number): string {
  return median(results.map((result) => result[kind])).toFixed(digits);
}

function ratios(results: readonly SliceResult[], floor: readonly SliceResult[], kind: TimeKind): number[] {
  return results.map((result, index) => result[kind] / (floor[index]?.[kind] ?? Number.NaN));
}

function describeRatios(values: readonly number[]): string {
  return `${median(values).toFixed(2)} (${quantile(values, 0.1).toFixed(2)} to ${quantile(values, 0.9).toFixed(2)})`;
}
