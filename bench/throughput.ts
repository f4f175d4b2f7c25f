import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { SliceResult } from "./driver.ts";
import { measureFsyncMs } from "./measure-fsync.ts";
import type { Slice } from "./measure-slice.ts";
import { readWrittenKiB, sumWithChildren } from "./process-use.ts";
import { type CountsPerTask, renderReport, type ServerResults } from "./report.ts";
import {
  explainAbsence,
  explainMissingTracer,
  MAX_IN_FLIGHT,
  type RunningServer,
  type ServerName,
  serverNames,
  startDriver,
  startServer,
} from "./servers.ts";

const { values: options } = parseArgs({
  options: {
    slices: { type: "string", default: "9" },
    /** Minimum duration of a slice. */
    seconds: { type: "string", default: "2" },
    /** Comma-separated. Only a run with all servers replaces results.md. */
    servers: { type: "string", default: serverNames.join(",") },
    /** Comma-separated directories of other checkouts of Bridge, which are measured too. */
    against: { type: "string" },
    /** Fail if a goal is missed. */
    gate: { type: "boolean", default: false },
    "no-file": { type: "boolean", default: false },
    /** Checks in about a minute that the benchmark works; its figures are not valid. */
    quick: { type: "boolean", default: false },
  },
});
const IN_FLIGHT = [1, 32, MAX_IN_FLIGHT];
const COUNT_IN_FLIGHT = 32;
/** Minimum per client in a slice, so that the unfinished tasks at its two ends matter little. */
const TASKS_PER_CLIENT = 8;
const plan = options.quick
  ? { slices: 2, warmUpTasks: 100, leastMs: 100, leastTasks: 20, tasksPerClient: 0, countedTasks: 50 }
  : {
      slices: Number(options.slices),
      warmUpTasks: 3000,
      leastMs: Number(options.seconds) * 1000,
      leastTasks: 500,
      tasksPerClient: TASKS_PER_CLIENT,
      countedTasks: 1000,
    };

const requested = options.servers.split(",");
for (const name of requested) {
  if (!serverNames.some((known) => known === name))
    throw new Error(`--servers must list names of ${serverNames.join(", ")}; got "${name}".`);
}
const names: ServerName[] = serverNames.filter((name) => name === "floor" || requested.includes(name));
for (const checkout of options.against?.split(",") ?? []) names.push(`bridge@${path.resolve(checkout)}`);
const results = names.map((name): ServerResults => ({ name, absence: explainAbsence(name), slices: new Map(), counts: null, syncs: null }));
const present = results.filter(({ absence }) => absence === null);
for (const { name, absence } of results) if (absence !== null) console.log(`${name} is absent: ${absence}`);

const loadBefore = loadavg()[0] ?? Number.NaN;
const fsyncMs: number[] = [];
const missingTracer = explainMissingTracer();
const driver = startDriver();
try {
  await measureTimes();
  for (const server of present) server.counts = await count(server.name);
  const durable = present.filter(({ name }) => name === "floor" || name.startsWith("bridge"));
  if (missingTracer === null) for (const server of durable) server.syncs = await countSyncs(server.name);
} finally {
  await driver.stop();
}
const { text, met } = renderReport(results, { loadBefore, fsyncMs, missingTracer });
console.log(`\n${options.quick ? "The figures of a quick run are not valid.\n\n" : ""}${text}`);
const writesFile =
  !(options.quick || options["no-file"]) && serverNames.every((name) => names.includes(name)) && options.against === undefined;
if (writesFile) writeFileSync(path.join(import.meta.dirname, "results.md"), text);
process.exitCode = options.gate && !met ? 1 : 0;

/** Keeps all servers running and measures them in turn, so that a change in the machine's load affects all of them. */
async function measureTimes(): Promise<void> {
  const servers = new Map<ServerName, RunningServer>();
  try {
    for (const { name } of present) servers.set(name, await startServer(name));
    for (const [name, server] of servers) {
      const { faults } = await run(server, { inFlight: MAX_IN_FLIGHT, leastTasks: plan.warmUpTasks, leastMs: 0 });
      console.log(`warmed up ${name} ${faults.join("; ")}`);
    }
    for (let slice = 0; slice < plan.slices; slice += 1) {
      const order = slice % 2 === 0 ? present : present.toReversed();
      fsyncMs.push(measureFsyncMs((servers.get("floor") as RunningServer).directory));
      for (const inFlight of IN_FLIGHT) {
        const leastTasks = Math.max(plan.leastTasks, plan.tasksPerClient * inFlight);
        for (const { name, slices } of order) {
          if (name === "bare" && inFlight > 1) continue;
          const result = await run(servers.get(name) as RunningServer, { inFlight, leastTasks, leastMs: plan.leastMs });
          slices.set(inFlight, [...(slices.get(inFlight) ?? []), result]);
          console.log(describeSlice(slice, name, inFlight, result));
        }
      }
    }
  } finally {
    for (const server of servers.values()) await server.stop();
  }
}

/** Counts the operations per task on a separate, instrumented server; returns null if a task failed. */
async function count(name: ServerName): Promise<CountsPerTask | null> {
  const server = await startServer(name, { counts: true });
  try {
    const read = async () => {
      const sum = (kind: "all" | "disk") =>
        server.target.pids.reduce((total, pid) => total + sumWithChildren(pid, (one) => readWrittenKiB(one)[kind]), 0);
      return { ...(await server.readCounts()), writtenKiB: sum("all"), diskKiB: sum("disk") };
    };
    const slice = { inFlight: COUNT_IN_FLIGHT, leastTasks: plan.countedTasks, leastMs: 0 };
    await run(server, slice);
    const before = await read();
    const { dispatched, faults } = await run(server, slice);
    const after = await read();
    const perTask = (kind: keyof typeof after) => (after[kind] - before[kind]) / dispatched;
    console.log(`counted ${name} ${faults.join("; ")}`);
    if (faults.length > 0) return null;
    return {
      statements: perTask("statements"),
      promises: perTask("promises"),
      writtenKiB: perTask("writtenKiB"),
      diskKiB: perTask("diskKiB"),
    };
  } finally {
    await server.stop();
  }
}

/** Counts the calls that wait for the disk per task, with one task at a time; returns null if a task failed. */
async function countSyncs(name: ServerName): Promise<number | null> {
  const server = await startServer(name, { tracesSyncs: true });
  try {
    const slice = { inFlight: 1, leastTasks: plan.countedTasks, leastMs: 0 };
    await run(server, slice);
    const before = server.readSyncs();
    const { dispatched, faults } = await run(server, slice);
    console.log(`counted the syncs of ${name} ${faults.join("; ")}`);
    return faults.length > 0 ? null : (server.readSyncs() - before) / dispatched;
  } finally {
    await server.stop();
  }
}

function run({ target }: RunningServer, slice: Slice): Promise<SliceResult> {
  return driver.request<SliceResult>({ target, slice });
}

function describeSlice(slice: number, name: ServerName, inFlight: number, { tasksPerSecond, cpuMsPerTask, faults }: SliceResult): string {
  const fault = faults.length > 0 ? ` INVALID: ${faults[0]}` : "";
  return `slice ${slice + 1}: ${name} ${inFlight} in flight ${tasksPerSecond.toFixed(0)}/s ${cpuMsPerTask.toFixed(3)} ms CPU${fault}`;
}
