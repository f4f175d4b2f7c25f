import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { SliceResult } from "./driver.ts";
import type { Slice } from "./measure-slice.ts";
import { EVENTS_PER_TASK } from "./noop-agent.ts";
import { readMemoryKiB } from "./process-use.ts";
import { type RunningServer, type ServerName, startDriver, startServer } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

const usage = `Usage: node bench/fan-out.ts [--turns n] [--against directory] [--no-file]

Measures the cost of the readers of event streams for Bridge and for the floor: CPU time per delivered event, and memory per idle reader.
With --against, also measures the Bridge of another checkout.
`;
const { values: options } = parseArgs({
  options: {
    turns: { type: "string", default: "7" },
    against: { type: "string" },
    "no-file": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});

/** Goals of Bridge compared with the floor, with 1,000 readers. */
const MAX_CPU_RATIO = 2;
const MAX_MEMORY_RATIO = 1.5;
/** Goal for the CPU time of a task while 1,000 readers follow other tasks, compared with no readers. */
const MAX_OTHERS_RATIO = 1.1;

const READERS = [100, 1000] as const;
const [FEW, MANY] = READERS;
const IN_FLIGHT = 8;
const LEAST_TASKS = 64;
const LEAST_MS = 1000;
const WARM_UP_TASKS = 2000;
const MEMORY_ROUNDS = 3;
const MEMORY_WARM_UPS = 5;
/** Bridge adds the start, the end and the delivery of the callback to the events of the agent. */
const countEventsPerTask = (name: ServerName): number => EVENTS_PER_TASK + (name === "floor" ? 0 : 3);

/** The costs of one server in one turn. */
interface Costs {
  /** CPU time per delivered event in µs, by the number of readers. */
  perDelivery: Map<number, number>;
  /** CPU time per task while many readers follow other tasks, compared with no readers. */
  others: number;
}

if (options.help === true) process.stdout.write(usage);
else process.exitCode = await main();

async function main(): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const names: ServerName[] = ["floor", "bridge"];
  if (options.against !== undefined) names.push(`bridge@${path.resolve(options.against)}`);
  const driver = startDriver();
  const run = async ({ target }: RunningServer, slice: Partial<Slice>): Promise<SliceResult> => {
    const full = { inFlight: IN_FLIGHT, leastTasks: LEAST_TASKS, leastMs: LEAST_MS, ...slice };
    const result = await driver.request<SliceResult>({ target, slice: full });
    if (result.faults.length > 0) throw new Error(`The slice is invalid: ${result.faults[0]}`);
    return result;
  };
  try {
    const costs = await measureTimes(names, run);
    const memory = await measureMemory(names, run);
    const { text, met } = render(names, { costs, memory, load });
    console.log(`\n${text}`);
    if (!options["no-file"] && options.against === undefined) writeFileSync(path.join(import.meta.dirname, "fan-out.md"), text);
    return met ? 0 : 1;
  } finally {
    await driver.stop();
  }
}

type Run = (server: RunningServer, slice: Partial<Slice>) => Promise<SliceResult>;
/** One entry for each turn. */
type Results<Value> = Map<ServerName, Value[]>;

/** Keeps all servers running and measures them in turn, so that a change in the machine's load affects all of them. */
async function measureTimes(names: readonly ServerName[], run: Run): Promise<Results<Costs>> {
  const servers = new Map<ServerName, RunningServer>();
  const results: Results<Costs> = new Map(names.map((name) => [name, []]));
  try {
    for (const name of names) servers.set(name, await startServer(name));
    for (const server of servers.values()) {
      await run(server, { inFlight: 32, leastTasks: WARM_UP_TASKS, leastMs: 0 });
      await run(server, { readers: { count: MANY } });
    }
    for (let turn = 0; turn < Number(options.turns); turn += 1) {
      for (const [name, server] of turn % 2 === 0 ? servers : [...servers].toReversed()) {
        const costs = await measureTurn(name, server, run);
        results.get(name)?.push(costs);
        const deliveries = READERS.map((count) => `${costs.perDelivery.get(count)?.toFixed(3)} µs with ${count} readers`);
        console.log(`turn ${turn + 1}: ${name} ${deliveries.join(", ")}`);
      }
    }
    return results;
  } finally {
    for (const server of servers.values()) await server.stop();
  }
}

async function measureTurn(name: ServerName, server: RunningServer, run: Run): Promise<Costs> {
  const { cpuMsPerTask: alone } = await run(server, {});
  const perDelivery = new Map<number, number>();
  for (const count of READERS) {
    const { cpuMsPerTask } = await run(server, { readers: { count } });
    perDelivery.set(count, ((cpuMsPerTask - alone) * 1000) / (countEventsPerTask(name) * count));
  }
  // The floor has no filter.
  if (name === "floor") return { perDelivery, others: Number.NaN };
  const { cpuMsPerTask } = await run(server, { readers: { count: MANY, path: "/api/events?taskId=other-*" } });
  return { perDelivery, others: cpuMsPerTask / alone };
}

/**
 * Measures the memory of new servers after a garbage collection, in KiB per reader. The young generation is small, because its size depends
 * on how much garbage the server has produced.
 */
async function measureMemory(names: readonly ServerName[], run: Run): Promise<Results<number>> {
  const results: Results<number> = new Map(names.map((name) => [name, []]));
  const nodeOptions = ["--max-semi-space-size=1", "--expose-gc", "--import", path.join(import.meta.dirname, "gc-preload.ts")];
  for (let round = 0; round < MEMORY_ROUNDS; round += 1) {
    for (const name of names) {
      const server = await startServer(name, { nodeOptions });
      const measure = async (count: number): Promise<number> => {
        await run(server, { leastTasks: 1, leastMs: 0, readers: { count } });
        await server.collectGarbage();
        return readMemoryKiB(server.target.pids[0] ?? 0);
      };
      try {
        for (let count = 0; count < MEMORY_WARM_UPS; count += 1) await measure(FEW);
        const few = await measure(FEW);
        const perReader = ((await measure(MANY)) - few) / (MANY - FEW);
        results.get(name)?.push(perReader);
        console.log(`memory ${round + 1}: ${name} ${perReader.toFixed(1)} KiB per idle reader`);
      } finally {
        await server.stop();
      }
    }
  }
  return results;
}

function render(
  names: readonly ServerName[],
  { costs, memory, load }: { costs: Results<Costs>; memory: Results<number>; load: string | undefined },
): { text: string; met: boolean } {
  const deliveries = (name: ServerName, count: number) =>
    (costs.get(name) ?? []).map(({ perDelivery }) => perDelivery.get(count) ?? Number.NaN);
  const others = (name: ServerName) => (costs.get(name) ?? []).map((one) => one.others);
  const rows = names.slice(1).flatMap((name) => [
    ...READERS.map((count) => ({
      what: `CPU per delivered event, ${count} readers`,
      name,
      unit: "µs",
      floor: deliveries("floor", count),
      own: deliveries(name, count),
      goal: count === MANY ? MAX_CPU_RATIO : null,
    })),
    {
      what: "memory per idle reader",
      name,
      unit: "KiB",
      floor: memory.get("floor") ?? [],
      own: memory.get(name) ?? [],
      goal: MAX_MEMORY_RATIO,
    },
    {
      what: `CPU per task, ${MANY} readers of other tasks x no readers`,
      name,
      unit: "",
      floor: [],
      own: others(name),
      goal: MAX_OTHERS_RATIO,
    },
  ]);
  const verdicts = rows.map(({ floor, own, goal }) => {
    const ratios = floor.length === 0 ? own : own.map((value, index) => value / (floor[index] ?? Number.NaN));
    return { ratios, met: goal === null || median(ratios) <= goal };
  });
  const show = (values: readonly number[], unit: string) =>
    values.length === 0 || unit === "" ? "" : `${median(values).toFixed(unit === "KiB" ? 1 : 3)} ${unit}`;
  const text = `# Cost of event streams

\`npm run bench -- fan-out\`: ${options.turns} turns, load before ${load}. The servers take turns with ${IN_FLIGHT} tasks in flight and 0, ${READERS.join(" and ")} readers of all events. The CPU time per
delivered event is what the readers add to the CPU time of a task, divided by its events and the readers. The memory (PSS) is measured after a
garbage collection and with a small young generation, from ${FEW} to ${MANY} readers, ${MEMORY_ROUNDS} times. Values are medians; ratios are the median (p10 to p90) of the ratios of the turns.

| | server | floor | server | ratio | goal | |
|---|---|--:|--:|---|---|---|
${rows.map(({ what, name, unit, floor, own, goal }, index) => `| ${what} | ${name.split("/").at(-1)} | ${show(floor, unit)} | ${show(own, unit)} | ${describeRatios(verdicts[index]?.ratios ?? [])} | ${goal === null ? "" : `at most ${goal}`} | ${goal === null ? "no goal" : verdicts[index]?.met ? "met" : "**missed**"} |`).join("\n")}
`;
  return { text, met: verdicts.every(({ met }, index) => met || rows[index]?.name !== "bridge") };
}

/** A declaration, because `main` runs before the end of this file is evaluated. */
function describeRatios(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)} to ${quantile(ratios, 0.9).toFixed(2)})`;
}
