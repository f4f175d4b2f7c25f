import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { StageResult } from "./driver.ts";
import { renderReport } from "./report.ts";
import { MAX_IN_FLIGHT, type Round, runServer, type ServerName } from "./servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    /** Seconds of each measurement. */
    seconds: { type: "string", default: "3" },
    "no-file": { type: "boolean", default: false },
  },
});
const WARM_MS = 1200;
const measureMs = Number(values.seconds) * 1000;
const stage = (inFlight: number) => ({ inFlight, warmMs: WARM_MS, measureMs });
const stagesOf: Record<ServerName, ReturnType<typeof stage>[]> = {
  bare: [stage(1)],
  floor: [1, 32, MAX_IN_FLIGHT].map(stage),
  bridge: [1, 32, MAX_IN_FLIGHT].map(stage),
};

const loadBefore = loadavg()[0] ?? Number.NaN;
const rounds: Round[] = [];
for (let index = 0; index < Number(values.rounds); index += 1) {
  const order: ServerName[] = ["bare", "floor", "bridge"];
  // The order changes, so that heat and full caches do not always affect the same server.
  if (index % 2 === 1) order.reverse();
  const round: Partial<Round> = {};
  for (const name of order) {
    const run = await runServer(name, stagesOf[name]);
    round[name] = run;
    console.log(`round ${index + 1}: ${name.padEnd(6)} ${run.stages.map(describeStage).join(", ")}`);
  }
  rounds.push(round as Round);
}

const { text, met } = renderReport(rounds, { loadBefore });
console.log(`\n${text}`);
if (!values["no-file"]) writeFileSync(path.join(import.meta.dirname, "results.md"), text);
process.exitCode = met ? 0 : 1;

function describeStage({ inFlight, tasksPerSecond, cpuMsPerTask, faults }: StageResult): string {
  const fault = faults.length > 0 ? ` DOES NOT COUNT: ${faults[0]}` : "";
  return `${inFlight} in flight ${tasksPerSecond.toFixed(0)}/s ${cpuMsPerTask.toFixed(3)} ms CPU${fault}`;
}
