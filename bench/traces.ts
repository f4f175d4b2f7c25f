import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { createModelServer } from "../test/runtimes/model-server/server.ts";
import { type BridgeProgram, dispatchTask, startBridgeProgram } from "../test/support/bridge-program.ts";
import { until } from "../test/support/until.ts";
import { startCollector } from "../test/traces/start-collector.ts";
import { median } from "./statistics.ts";

/** The length of the model's answer. */
const WORDS = 200;
const usage = `Usage: node bench/traces.ts [--rounds n] [--tasks n] [--at-once n] [--agent model|command|noop]

Measures the CPU time of Bridge for each task with and without traces. In each round, two Bridges run the same tasks at the same time, so
that other work of the machine affects both. The agent "model" asks a model over HTTP, which streams an answer of ${WORDS} words;
"command" starts a program that ends at once, whose own CPU time does not count; "noop" calls six tools in the process of Bridge, and does
nothing else.
`;
/** Maximum ratio of the CPU time with traces to the CPU time without them. */
const GOAL = 1.03;
/** Ticks of the CPU times in /proc per second. */
const TICKS_PER_SECOND = 100;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    tasks: { type: "string", default: "1500" },
    "at-once": { type: "string", default: "16" },
    agent: { type: "string", default: "model" },
    help: { type: "boolean", short: "h" },
  },
});

if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.rounds), Number(values.tasks), Number(values["at-once"]));

async function main(rounds: number, tasks: number, atOnce: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  await using agent = await startAgent(values.agent);
  const collector = await startCollector();
  const ratios: number[] = [];
  const differences: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { off, on } = await measure({ collector, agent }, tasks, atOnce);
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
  const sorted = ratios.toSorted((left, right) => left - right);
  const quartile = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(3);
  console.log(
    `median ratio ${ratio.toFixed(3)}, quartiles ${quartile(0.25)} and ${quartile(0.75)}, goal at most ${GOAL}; ` +
      `median difference ${median(differences).toFixed(0)} µs per task; ${collector.spans.length} spans received, load ${load}`,
  );
  return ratio <= GOAL ? 0 : 1;
}

/** What the two Bridges use. */
interface Peers {
  collector: Awaited<ReturnType<typeof startCollector>>;
  agent: Awaited<ReturnType<typeof startAgent>>;
}

/** Returns the CPU time of two Bridges for each task, in µs, until the collector has the spans. */
async function measure(
  { collector, agent: { settings, message } }: Peers,
  tasks: number,
  atOnce: number,
): Promise<{ off: number; on: number }> {
  const start = collector.spans.length;
  const countDispatches = () => collector.spans.slice(start).filter(({ kind }) => kind === "SERVER").length;
  await using off = await startMeasured(settings);
  await using on = await startMeasured({ ...settings, ...collector.settings });
  const bridges = [off.bridge, on.bridge];
  const warmUpTasks = Math.ceil(tasks / 4);
  await run(bridges, { prefix: "warm", tasks: warmUpTasks, atOnce, message });
  // The spans of the warm-up belong to no measured task.
  await finish(() => countDispatches() >= warmUpTasks);
  const before = bridges.map(({ pid }) => readCpuTicks(pid));
  await run(bridges, { prefix: "task", tasks, atOnce, message });
  await finish(() => countDispatches() >= warmUpTasks + tasks);
  const [offTime = 0, onTime = 0] = bridges.map(
    ({ pid }, index) => ((readCpuTicks(pid) - (before[index] ?? 0)) / TICKS_PER_SECOND / tasks) * 1e6,
  );
  return { off: offTime, on: onTime };
}

/** Starts a Bridge on a new database. */
async function startMeasured(settings: Readonly<Record<string, string>>): Promise<{ bridge: BridgeProgram } & AsyncDisposable> {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  let kill = (): void => {};
  const bridge = await startBridgeProgram(
    directory,
    {
      ...settings,
      BRIDGE_DATABASE_URL: `sqlite:${path.join(directory, "bridge.db")}`,
      BRIDGE_MAX_CONCURRENT: "10000",
      BRIDGE_LOG_LEVEL: "info",
    },
    (act) => {
      kill = act as () => void;
    },
  );
  return {
    bridge,
    async [Symbol.asyncDispose]() {
      kill();
      await bridge.exited;
      rmSync(directory, { recursive: true });
    },
  };
}

interface Load {
  prefix: string;
  tasks: number;
  atOnce: number;
  message: string;
}

/** Runs the tasks in each Bridge until they have ended. A task is dispatched when an earlier one was accepted. */
async function run(bridges: readonly BridgeProgram[], { prefix, tasks, atOnce, message }: Load): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < tasks; index = next++) {
      for (const bridge of index % 2 === 0 ? bridges : bridges.toReversed()) {
        const response = await dispatchTask(bridge, { taskId: `${prefix}-${index}`, agentId: `a-${index % atOnce}`, message });
        await response.body?.cancel();
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  // Asks both each time, because an answer costs CPU time.
  for (const state of ["queued", "running"])
    await finish(async () => (await Promise.all(bridges.map((bridge) => isEmpty(bridge, state)))).every(Boolean));
}

/** Whether no task of the Bridge is in the state. */
async function isEmpty(bridge: BridgeProgram, state: string): Promise<boolean> {
  const answer = await bridge.call("GET", `/api/v2/tasks?state=${state}&limit=1`);
  return ((await answer.json()) as { data: unknown[] }).data.length === 0;
}

/** Returns the settings of an agent, and the message of its tasks. Throws for an unknown name. */
async function startAgent(name: string): Promise<{ settings: Readonly<Record<string, string>>; message: string } & AsyncDisposable> {
  const noModel = async (): Promise<void> => {};
  switch (name) {
    case "noop":
      return {
        settings: { BRIDGE_ADAPTERS: path.join(import.meta.dirname, "noop-adapter.ts") },
        message: "go",
        [Symbol.asyncDispose]: noModel,
      };
    case "command":
      return {
        settings: { BRIDGE_ADAPTERS: "command", BRIDGE_COMMAND: JSON.stringify(["true"]) },
        message: "go",
        [Symbol.asyncDispose]: noModel,
      };
    case "model": {
      const model = await createModelServer();
      return {
        settings: { BRIDGE_ADAPTERS: "vercel-ai", BRIDGE_VERCEL_AI_BASE_URL: `${model.url}/v1`, BRIDGE_VERCEL_AI_MODEL: "scripted" },
        message: model.scenario([{ text: "answer ".repeat(WORDS) }]),
        [Symbol.asyncDispose]: model.close,
      };
    }
    default:
      throw new Error("--agent must be noop, model or command.");
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
