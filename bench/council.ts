import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createSpending, type PanelReport, type RoleRequest, readInput, runPanel } from "bridge-council";
import { pino } from "pino";
import type { ExecutionAdapter } from "#contract";
import { createPanelAdapter } from "../adapters/council/index.ts";
import { createApp } from "../src/app/create-app.ts";
import { loadConfig } from "../src/app/load-config.ts";
import { createAdapter as createNoopAdapter } from "./noop-adapter.ts";
import { median } from "./statistics.ts";

const usage = `Usage: node bench/council.ts [--rounds n] [--latency ms] [--no-file]

Measures how long a standard council takes on a runtime that answers after a fixed time, through Bridge and with the package alone, and
compares both with its critical path. Also checks that its questions stay within the limits.
`;
const GOAL = 1.3;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    latency: { type: "string", default: "200" },
    "no-file": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.rounds), Number(values.latency));

interface Shape {
  what: string;
  domains: string[];
  /** Domains that every role requests. */
  calledFor: number;
  maxConcurrent: number;
  maxRuns: number;
  /** The number of questions of each phase that the contract requires. */
  phases: readonly number[];
}

interface Row extends Shape {
  criticalMs: number;
  bareMs: number;
  bridgeMs: number;
  asked: number;
  mostAtOnce: number;
}

async function main(rounds: number, latencyMs: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const four = ["security", "api", "database", "performance"];
  const shapes: Shape[] = [
    { what: "standard, 4 domains", domains: four, calledFor: 0, maxConcurrent: 10, maxRuns: 200, phases: [6, 2, 4] },
    { what: "the same, 2 at once", domains: four, calledFor: 0, maxConcurrent: 2, maxRuns: 200, phases: [6, 2, 4] },
    { what: "20 domains called for, 15 questions", domains: four, calledFor: 20, maxConcurrent: 10, maxRuns: 15, phases: [6, 2, 7] },
  ];
  const rows: Row[] = [];
  for (const shape of shapes) rows.push(await measure(shape, rounds, latencyMs));
  const isMet = (row: Row): boolean => row.bridgeMs / row.criticalMs < GOAL;
  const keepsLimits = (row: Row): boolean => row.mostAtOnce <= row.maxConcurrent && row.asked <= row.maxRuns;
  const text = `# A council compared with its critical path

\`npm run bench:council\`: a council on one runtime in this process, which answers every question after ${latencyMs} ms; medians of ${rounds} rounds,
load before ${load}. The critical path is this time, once for each batch of questions that run at the same time. A council has three
phases: round 1, then Challenger and Integration Checker, then the experts. The number of batches of a phase is its number
of questions divided by \`BRIDGE_MAX_CONCURRENT\`, rounded up. "Package" is the council without Bridge, which has no such limit. "Bridge" is the time from a dispatch over HTTP until its
result can be read, with every question as a stored child task. Goal: a ratio under ${GOAL}, and never more questions at once, or in total, than the
limits allow.

| council | at once, limit | questions, limit | critical path | package | Bridge | ratio | |
|---|--:|--:|--:|--:|--:|--:|---|
${rows.map((row) => `| ${row.what} | ${row.mostAtOnce}, ${row.maxConcurrent} | ${row.asked}, ${row.maxRuns} | ${row.criticalMs} ms | ${row.bareMs.toFixed(0)} ms | ${row.bridgeMs.toFixed(0)} ms | ${(row.bridgeMs / row.criticalMs).toFixed(3)} | ${isMet(row) && keepsLimits(row) ? "met" : "**missed**"} |`).join("\n")}
`;
  console.log(`\n${text}`);
  if (!values["no-file"]) writeFileSync(path.join(import.meta.dirname, "council.md"), text);
  return rows.every((row) => isMet(row) && keepsLimits(row)) ? 0 : 1;
}

async function measure(shape: Shape, rounds: number, latencyMs: number): Promise<Row> {
  const { maxConcurrent, phases } = shape;
  const runtime = createRuntime(latencyMs, shape.calledFor);
  const turns = phases.reduce((sum, count) => sum + Math.ceil(count / maxConcurrent), 0);
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) bare.push(await measureMs(() => runWithoutBridge(shape, runtime.answer)));
  const dataDir = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  const app = await createApp(createConfig(shape, dataDir), pino({ level: "error" }), {
    adapters: [
      { provider: "fixed", adapter: runtime.adapter },
      { provider: "bridge-codex", adapter: createPanelAdapter("codex") },
    ],
  });
  try {
    const bridge = { address: await app.start(), token: readFileSync(path.join(dataDir, "token"), "utf8").trim() };
    runtime.resetCounts();
    await runThroughBridge(bridge, shape);
    const { asked, mostAtOnce } = runtime;
    const through: number[] = [];
    for (let round = 0; round < rounds; round += 1) through.push(await measureMs(() => runThroughBridge(bridge, shape)));
    return { ...shape, criticalMs: turns * latencyMs, bareMs: median(bare), bridgeMs: median(through), asked, mostAtOnce };
  } finally {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function createConfig({ maxConcurrent, maxRuns }: Shape, dataDir: string) {
  return loadConfig({
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: dataDir,
    BRIDGE_LOG_LEVEL: "error",
    BRIDGE_MAX_CONCURRENT: String(maxConcurrent),
    BRIDGE_COUNCIL_MAX_RUNS: String(maxRuns),
  }).config;
}

function createInput({ domains }: Shape) {
  return { scope: "12 files", task_description: "Review them.", task_type: "review", domains, intensity: "standard", provider: "fixed" };
}

/** The council of the package, which calls the runtime directly. */
async function runWithoutBridge(shape: Shape, answer: (request: { round: number }) => Promise<string>): Promise<void> {
  const read = readInput(createInput(shape), "bench", { needsDomains: true, maxProviders: 1 });
  if ("faults" in read) throw new Error(JSON.stringify(read.faults));
  const report = await runPanel({
    bridge: "fixed",
    provider: "fixed",
    input: read.input,
    profile: "inspect",
    execute: async (request: RoleRequest) => ({ status: "ok", output: await answer(request) }),
    resumesSessions: false,
    timeoutMultiplier: 1,
    secondsLeft: () => 600,
    spending: createSpending(shape.maxRuns),
    log: () => {},
    onProgress: () => {},
  });
  check(report, shape);
}

async function runThroughBridge({ address, token }: { address: string; token: string }, shape: Shape): Promise<void> {
  const call = async (
    target: string,
    init: RequestInit = {},
  ): Promise<{ taskId: string; state: string; result: { outputs: PanelReport } }> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(new URL(target, address), { ...init, headers });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as never;
  };
  const body = { provider: "bridge-codex", agentId: "bench", bridgeInput: createInput(shape) };
  const { taskId } = await call("/api/v2/dispatch", { method: "POST", body: JSON.stringify(body) });
  for (;;) {
    const task = await call(`/api/v2/tasks/${taskId}`);
    if (task.state === "completed") return check(task.result.outputs, shape);
    if (task.state !== "queued" && task.state !== "running") throw new Error(JSON.stringify(task));
    await delay(5);
  }
}

/** Throws if a council omitted questions, because its time cannot be compared. */
function check({ roles, debate_rounds, status }: PanelReport, { phases }: Shape): void {
  const planned = phases.reduce((sum, count) => sum + count, 0);
  if (status !== "COMPLETED" || debate_rounds !== 1 || roles.length !== planned || roles.some(({ answered }) => !answered))
    throw new Error(`incomplete council: ${status}, ${debate_rounds} debate rounds, ${roles.length} of ${planned} questions`);
}

async function measureMs(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Gives every role the same answer after the same time: one finding, and the domains that it requests. */
function createRuntime(latencyMs: number, calledFor: number) {
  let asked = 0;
  let atOnce = 0;
  let mostAtOnce = 0;
  const signals = Array.from({ length: calledFor }, (_, index) => ({ domain: `field ${index}`, reason: "It may matter." }));
  async function answer({ round }: { round: number }): Promise<string> {
    asked += 1;
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await delay(latencyMs);
    atOnce -= 1;
    const outputs = [{ type: "finding", severity: "LOW", title: `A word of round ${round}`, description: "Nothing more." }];
    return JSON.stringify({ outputs, cross_domain_signals: signals });
  }
  const adapter: ExecutionAdapter = {
    ...createNoopAdapter(),
    provider: "fixed",
    async execute({ metadata }) {
      const output = await answer((metadata as { council: { round: number } }).council);
      return { status: "ok", output, durationMs: latencyMs, connection: "in-process" };
    },
  };
  return {
    adapter,
    answer,
    resetCounts() {
      asked = 0;
      mostAtOnce = 0;
    },
    get asked() {
      return asked;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
  };
}
