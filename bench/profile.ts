import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { SliceResult } from "./driver.ts";
import { explainAbsence, type ServerName, serverNames, startDriver, startServer } from "./servers.ts";

/**
 * Shows on which functions a server under load spends its time: `npm run bench -- profile [--server floor] [--in-flight 32] [--seconds 6]
 * [--top 40] [--accept-only]`.
 */
const { values } = parseArgs({
  options: {
    server: { type: "string", default: "bridge" },
    "in-flight": { type: "string", default: "256" },
    seconds: { type: "string", default: "6" },
    top: { type: "string", default: "40" },
    /** The server stores tasks and runs none. */
    "accept-only": { type: "boolean", default: false },
  },
});
const name = values.server as ServerName;
if (!serverNames.some((known) => known === name)) throw new Error(`--server must be one of ${serverNames.join(", ")}.`);
const absence = explainAbsence(name);
if (absence !== null) throw new Error(absence);

/** Excludes the start and most of the warm-up from the profile. */
const SKIPPED_MS = 3000;
const WARM_UP_TASKS = 3000;

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

const directory = mkdtempSync(path.join(tmpdir(), "bridge-profile-"));
try {
  const nodeOptions = ["--cpu-prof", `--cpu-prof-dir=${directory}`, "--cpu-prof-interval=500"];
  const inFlight = Number(values["in-flight"]);
  const driver = startDriver();
  const server = await startServer(name, { nodeOptions, acceptOnly: values["accept-only"] });
  const run = (leastTasks: number, leastMs: number) =>
    driver.request<SliceResult>({ target: server.target, slice: { inFlight, leastTasks, leastMs } });
  await run(WARM_UP_TASKS, 0);
  console.table(await run(0, Number(values.seconds) * 1000));
  await driver.stop();
  await server.stop();
  const [file] = readdirSync(directory);
  if (file === undefined) throw new Error("The server left no profile.");
  const profile = JSON.parse(readFileSync(path.join(directory, file), "utf8")) as Profile;
  for (const by of ["self", "total"] as const) {
    console.log(`\n${by} time, in % of the time that was not idle`);
    for (const { name, part } of rank(profile, by).slice(0, Number(values.top))) console.log(`${part.toFixed(1).padStart(6)}  ${name}`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Sorts functions by their own time, or by their own time and that of all functions that they call. */
function rank({ nodes, samples, timeDeltas }: Profile, by: "self" | "total"): { name: string; part: number }[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)));
  const times = new Map<string, number>();
  let busy = 0;
  let passed = 0;
  for (const [index, id] of samples.entries()) {
    const time = timeDeltas[index] ?? 0;
    passed += time;
    if (passed < SKIPPED_MS * 1000) continue;
    const own = nameOf(byId.get(id));
    if (own.startsWith("(idle)") || own.startsWith("(program)")) continue;
    busy += time;
    const names = new Set([own]);
    for (let at = parents.get(id); by === "total" && at !== undefined; at = parents.get(at)) names.add(nameOf(byId.get(at)));
    for (const name of names) times.set(name, (times.get(name) ?? 0) + time);
  }
  return [...times].map(([name, time]) => ({ name, part: (time / busy) * 100 })).toSorted((a, b) => b.part - a.part);
}

function nameOf(node: Profile["nodes"][number] | undefined): string {
  if (node === undefined) return "?";
  const { functionName, url, lineNumber } = node.callFrame;
  const source = url.startsWith("file:") ? path.relative(path.resolve(import.meta.dirname, ".."), new URL(url).pathname) : url;
  return source === "" ? functionName : `${functionName || "(anonymous)"} ${source}:${lineNumber + 1}`;
}
