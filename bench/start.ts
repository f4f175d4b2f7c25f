import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { readCpuTimeMs } from "./process-use.ts";
import { type ServerName, startServer } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Compares the start and the idle state of Bridge with those of the floor: one server at a time, in turn, each on an empty directory. */
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    /** Comma-separated directories of other checkouts of Bridge, which are measured too. */
    against: { type: "string" },
    "no-file": { type: "boolean", default: false },
  },
});
/** Goal for the time until ready and for the idle memory, compared with the floor. */
const MAX_RATIO = 1.5;
/** Bridge completes its first health checks and the garbage of the start is collected. */
const SETTLE_MS = 2000;
const IDLE_MS = 2000;

interface Start {
  readyMs: number;
  startCpuMs: number;
  /** Proportional set size: pages that processes share are divided among them. */
  idleMiB: number;
  idleCpuPercent: number;
}

const others = (options.against?.split(",") ?? []).map((checkout): ServerName => `bridge@${path.resolve(checkout)}`);
const names: ServerName[] = ["floor", "bridge", ...others];
const starts = new Map(names.map((name): [ServerName, Start[]] => [name, []]));
const loadBefore = loadavg()[0] ?? Number.NaN;
for (const name of names) await measureStart(name);
for (let round = 0; round < Number(options.rounds); round += 1) {
  for (const name of round % 2 === 0 ? names : names.toReversed()) starts.get(name)?.push(await measureStart(name));
}
const text = render();
console.log(text);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "start.md"), text);

async function measureStart(name: ServerName): Promise<Start> {
  const startedAt = performance.now();
  const server = await startServer(name, { asOperator: true });
  const readyMs = performance.now() - startedAt;
  try {
    const [pid = 0] = server.target.pids;
    const startCpuMs = readCpuTimeMs(pid);
    await delay(SETTLE_MS);
    const cpuBefore = readCpuTimeMs(pid);
    await delay(IDLE_MS);
    return { readyMs, startCpuMs, idleMiB: readMemoryMiB(pid), idleCpuPercent: ((readCpuTimeMs(pid) - cpuBefore) / IDLE_MS) * 100 };
  } finally {
    await server.stop();
  }
}

function readMemoryMiB(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) / 1024;
}

function render(): string {
  const floor = starts.get("floor") ?? [];
  const rows = names.map((name) => {
    const own = starts.get(name) ?? [];
    const ratios = (kind: keyof Start) => own.map((start, round) => start[kind] / (floor[round]?.[kind] ?? Number.NaN));
    const cell = (kind: keyof Start, digits: number) =>
      `${median(own.map((start) => start[kind])).toFixed(digits)} | ${describe(ratios(kind))}`;
    const isMet = median(ratios("readyMs")) <= MAX_RATIO && median(ratios("idleMiB")) <= MAX_RATIO;
    const verdict = name === "bridge" ? (isMet ? "met" : "**missed**") : "";
    const idleCpu = median(own.map((start) => start.idleCpuPercent)).toFixed(2);
    return `| ${name} | ${cell("readyMs", 0)} | ${cell("startCpuMs", 0)} | ${cell("idleMiB", 0)} | ${idleCpu} | ${verdict} |`;
  });
  return [
    "# Start and idle",
    "",
    `Node ${process.versions.node}, ${cpus().length} cores, ${options.rounds} rounds; load average before ${loadBefore.toFixed(2)}.`,
    "",
    `The time from the creation of the process until it listens, and the memory (PSS) and CPU time 2 to 4 s later. The files are in the page cache. Goal: time and memory at most ${MAX_RATIO} times the floor's. Medians; ratios within a round with p10 to p90.`,
    "",
    "| server | ready after ms | x floor | CPU until ready, ms | x floor | idle MiB | x floor | idle CPU, % | goal |",
    "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ...rows,
    "",
  ].join("\n");
}

function describe(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)} to ${quantile(ratios, 0.9).toFixed(2)})`;
}
