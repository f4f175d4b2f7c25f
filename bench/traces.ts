import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { type BridgeProgram, dispatchTask, startBridgeProgram } from "../test/support/bridge-program.ts";
import { until } from "../test/support/until.ts";
import { startCollector } from "../test/traces/start-collector.ts";
import { median } from "./statistics.ts";

const usage = `Usage: node bench/traces.ts [--rounds n] [--tasks n] [--at-once n] [--agent noop|command]

Measures the CPU time of Bridge for each task with and without traces. The rounds alternate between the two. The agent "noop" calls six
tools in the process of Bridge; "command" starts a program that ends at once, whose own CPU time does not count.
`;
/** Maximum ratio of the CPU time with traces to the CPU time without them. */
const GOAL = 1.03;
/** Ticks of the CPU times in /proc per second. */
const TICKS_PER_SECOND = 100;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    tasks: { type: "string", default: "4000" },
    "at-once": { type: "string", default: "16" },
    agent: { type: "string", default: "noop" },
    help: { type: "boolean", short: "h" },
  },
});
const agents: Readonly<Record<string, Record<string, string>>> = {
  noop: { BRIDGE_ADAPTERS: path.join(import.meta.dirname, "noop-adapter.ts") },
  command: { BRIDGE_ADAPTERS: "command", BRIDGE_COMMAND: JSON.stringify(["true"]) },
};
const agent = agents[values.agent];
if (agent === undefined) throw new Error(`--agent must be one of ${Object.keys(agents).join(", ")}.`);

if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.rounds), Number(values.tasks), Number(values["at-once"]));

async function main(rounds: number, tasks: number, atOnce: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const collector = await startCollector();
  const ratios: number[] = [];
  const differences: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const start = collector.spans.length;
      const countDispatches = () => collector.spans.slice(start).filter(({ kind }) => kind === "SERVER").length;
      const sides = [null, { settings: collector.settings, countDispatches }];
      const times: number[] = [];
      // The first one of each round changes, so that a slow change of the machine affects both.
      for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) times[side] = await measure(sides[side] ?? null, tasks, atOnce);
      const [off = 0, on = 0] = times;
      ratios.push(on / off);
      differences.push(on - off);
      console.log(
        `round ${round + 1}: ${off.toFixed(0)} µs per task without traces, ${on.toFixed(0)} µs with traces, ratio ${(on / off).toFixed(3)}`,
      );
    }
  } finally {
    await collector.close();
  }
  const ratio = median(ratios);
  console.log(
    `median ratio ${ratio.toFixed(3)}, goal at most ${GOAL}; median difference ${median(differences).toFixed(0)} µs per task; ` +
      `${collector.unique().length} spans received, load ${load}`,
  );
  return ratio <= GOAL ? 0 : 1;
}

/** The collector of a Bridge with traces. */
interface Traced {
  settings: Readonly<Record<string, string>>;
  /** The number of tasks whose spans have arrived in this round. */
  countDispatches(): number;
}

/** Returns the CPU time of a Bridge for each task, in µs, until the collector has the spans. */
async function measure(traced: Traced | null, tasks: number, atOnce: number): Promise<number> {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  let kill = (): void => {};
  const bridge = await startBridgeProgram(
    directory,
    {
      ...traced?.settings,
      BRIDGE_DATABASE_URL: `sqlite:${path.join(directory, "bridge.db")}`,
      ...agent,
      BRIDGE_MAX_CONCURRENT: "10000",
      BRIDGE_LOG_LEVEL: "info",
    },
    (act) => {
      kill = act as () => void;
    },
  );
  try {
    const warmUpTasks = Math.ceil(tasks / 4);
    await run(bridge, "warm", warmUpTasks, atOnce);
    // The spans of the warm-up belong to no measured task.
    if (traced !== null) await finish(() => traced.countDispatches() >= warmUpTasks);
    const before = readCpuTicks(bridge.pid);
    await run(bridge, "task", tasks, atOnce);
    if (traced !== null) await finish(() => traced.countDispatches() >= warmUpTasks + tasks);
    return ((readCpuTicks(bridge.pid) - before) / TICKS_PER_SECOND / tasks) * 1e6;
  } finally {
    kill();
    await bridge.exited;
    rmSync(directory, { recursive: true });
  }
}

/** Runs tasks until they have ended. Each is dispatched when an earlier one was accepted. */
async function run(bridge: BridgeProgram, prefix: string, tasks: number, atOnce: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < tasks; index = next++) {
      const response = await dispatchTask(bridge, { taskId: `${prefix}-${index}`, agentId: `a-${index % atOnce}`, message: "go" });
      await response.body?.cancel();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  for (const state of ["queued", "running"]) {
    await finish(async () => {
      const answer = await bridge.call("GET", `/api/v2/tasks?state=${state}&limit=1`);
      return ((await answer.json()) as { data: unknown[] }).data.length === 0;
    });
  }
}

/** Waits until the condition is true. A measurement of unfinished tasks would be wrong. */
async function finish(condition: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await until(condition, 120_000))) throw new Error("The tasks, or the export of their spans, did not end in time.");
}

/** The user and system time of a process. */
function readCpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
