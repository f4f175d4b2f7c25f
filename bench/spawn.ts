import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { alternateSubjects, type Subject } from "./alternate-subjects.ts";
import { LOOP_RESOLUTION_MS, type LoopReport } from "./loop-preload.ts";
import { readMemoryKiB } from "./process-use.ts";
import { DRIVER_CORE } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Compares the event loop of Bridge while its tasks start programs with the idle one: the same process, in turn. */
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    /** Tasks of a round. Each starts one program. */
    tasks: { type: "string", default: "300" },
    /** Comma-separated directories of other checkouts of Bridge, which are measured too. */
    against: { type: "string" },
    "no-file": { type: "boolean", default: false },
  },
});
/** Goal for the p99 of the event loop while tasks start programs, compared with the idle one. */
const MAX_RATIO = 3;
const IN_FLIGHT = 8;
const IDLE_MS = 2000;
/** Pause before a measurement, in which Bridge removes the files of the last tasks. */
const SETTLE_MS = 500;
/** Runs on the core of the driver, so that it does not compete with Bridge. */
const PROGRAM = ["taskset", "-c", String(DRIVER_CORE), "true"];

interface Busy extends LoopReport {
  tasksPerSecond: number;
  memoryMiB: number;
}

interface Round {
  idle: LoopReport;
  busy: Busy;
}

const tasks = Number(options.tasks);
const loadBefore = loadavg()[0] ?? Number.NaN;
const subjects = await alternateSubjects<Round>({
  against: options.against,
  environment: { BRIDGE_ADAPTERS: "command", BRIDGE_COMMAND: JSON.stringify(PROGRAM) },
  rounds: Number(options.rounds),
  async measure(subject, round) {
    const before = round % 2 === 0 ? await measureIdle(subject) : null;
    const busy = await measureBusy(subject);
    return { idle: before ?? (await measureIdle(subject)), busy };
  },
  describe: ({ idle, busy }) => `p99 idle ${idle.p99Ms.toFixed(2)} ms, starting programs ${busy.p99Ms.toFixed(2)} ms`,
});
const text = render();
console.log(`\n${text}`);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "spawn.md"), text);

async function measureIdle({ server }: Subject<Round>): Promise<LoopReport> {
  await delay(SETTLE_MS);
  await server.measureLoop();
  await delay(IDLE_MS);
  return server.measureLoop();
}

async function measureBusy({ server, client }: Subject<Round>): Promise<Busy> {
  await delay(SETTLE_MS);
  await server.measureLoop();
  const tasksPerSecond = await client.runTasks(tasks, IN_FLIGHT);
  const report = await server.measureLoop();
  return { ...report, tasksPerSecond, memoryMiB: readMemoryKiB(server.target.pids[0] as number) / 1024 };
}

function render(): string {
  return `# The event loop while tasks start programs

Node ${process.versions.node}, ${cpus().length} cores, ${options.rounds} rounds; load average before ${loadBefore.toFixed(2)}.

\`npm run bench -- spawn\`: one Bridge, alternately idle for ${IDLE_MS / 1000} s and with ${tasks} tasks, ${IN_FLIGHT} in flight. Each task starts \`${PROGRAM.join(" ")}\` through
the \`command\` adapter, so that the programs run on the other core. The values are from Node's \`monitorEventLoopDelay\` with a resolution of
${LOOP_RESOLUTION_MS} ms: the time between two expirations of a timer of ${LOOP_RESOLUTION_MS} ms, so an idle event loop shows at least ${LOOP_RESOLUTION_MS} ms. "Longest" is the longest block. CPU time
is that of the thread of the event loop, and memory is the PSS after the tasks. Medians of the rounds; the ratio is the median of the ratios
of the rounds (p10 to p90). Goal: p99 at most ${MAX_RATIO} times the idle one.

| server | | p50 ms | p99 ms | longest ms | tasks/s | CPU ms/task | memory MiB | p99 x idle | goal |
|---|---|--:|--:|--:|--:|--:|--:|--:|---|
${subjects.flatMap(renderRows).join("\n")}
`;
}

function renderRows({ name, rounds }: Subject<Round>): string[] {
  const idle = rounds.map((round) => round.idle);
  const busy = rounds.map((round) => round.busy);
  const ratios = rounds.map((round) => round.busy.p99Ms / round.idle.p99Ms);
  const loop = (reports: readonly LoopReport[]) =>
    (["p50Ms", "p99Ms", "longestMs"] as const).map((kind) => median(reports.map((report) => report[kind])).toFixed(2)).join(" | ");
  const middle = (select: (one: Busy) => number, digits: number) => median(busy.map(select)).toFixed(digits);
  const cells = [
    middle(({ tasksPerSecond }) => tasksPerSecond, 0),
    middle(({ cpuMs }) => cpuMs / tasks, 1),
    middle(({ memoryMiB }) => memoryMiB, 0),
    `${median(ratios).toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)} to ${quantile(ratios, 0.9).toFixed(2)})`,
    median(ratios) <= MAX_RATIO ? "met" : "**missed**",
  ];
  return [`| ${name} | idle | ${loop(idle)} | | | | | |`, `| ${name} | starting programs | ${loop(busy)} | ${cells.join(" | ")} |`];
}
