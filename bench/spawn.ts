import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { LOOP_RESOLUTION_MS, type LoopReport } from "./loop-preload.ts";
import { readMemoryKiB } from "./process-use.ts";
import { DRIVER_CORE, type RunningServer, type ServerName, startServer } from "./servers.ts";
import { median, quantile } from "./statistics.ts";
import { connectTaskClient, type TaskClient } from "./task-client.ts";

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

interface Subject {
  name: ServerName;
  server: RunningServer;
  client: TaskClient;
  rounds: Round[];
}

const tasks = Number(options.tasks);
const loadBefore = loadavg()[0] ?? Number.NaN;
execFileSync("taskset", ["-acp", String(DRIVER_CORE), String(process.pid)], { stdio: "ignore" });
const others = (options.against?.split(",") ?? []).map((checkout): ServerName => `bridge@${path.resolve(checkout)}`);
const subjects: Subject[] = [];
try {
  for (const name of ["bridge", ...others] as const) subjects.push(await startSubject(name));
  // The first round is not recorded, because Node compiles the code in it.
  for (let round = -1; round < Number(options.rounds); round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const isIdleFirst = round % 2 === 0;
      const before = isIdleFirst ? await measureIdle(subject) : null;
      const busy = await measureBusy(subject);
      const idle = before ?? (await measureIdle(subject));
      if (round >= 0) subject.rounds.push({ idle, busy });
      console.log(
        `round ${round + 1}: ${subject.name} p99 idle ${idle.p99Ms.toFixed(2)} ms, starting programs ${busy.p99Ms.toFixed(2)} ms`,
      );
    }
  }
} finally {
  for (const { server, client } of subjects) {
    await server.stop();
    await client.close();
  }
}
const text = render();
console.log(`\n${text}`);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "spawn.md"), text);

async function startSubject(name: ServerName): Promise<Subject> {
  const server = await startServer(name, {
    asOperator: true,
    nodeOptions: ["--import", path.join(import.meta.dirname, "loop-preload.ts")],
    environment: { BRIDGE_ADAPTERS: "command", BRIDGE_COMMAND: JSON.stringify(PROGRAM) },
  });
  return { name, server, client: await connectTaskClient(server.target), rounds: [] };
}

async function measureIdle({ server }: Subject): Promise<LoopReport> {
  await delay(SETTLE_MS);
  await server.measureLoop();
  await delay(IDLE_MS);
  return server.measureLoop();
}

async function measureBusy({ server, client }: Subject): Promise<Busy> {
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

function renderRows({ name, rounds }: Subject): string[] {
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
