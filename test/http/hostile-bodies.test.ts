import { expect, test } from "vitest";
import { parseDispatch } from "../../src/dispatch/dispatch-request.ts";
import { BridgeError } from "../../src/errors.ts";
import { parseJson } from "../../src/http/parse-json.ts";
import { makeHostileBodies } from "./hostile-bodies.ts";

/** CPU time of reading and checking a body, in that of `JSON.parse`. */
const MAX_CPU_RATIO = 6;
/** What a measurement takes at least: the clock of CPU time ticks every 4 ms on some systems. */
const MEASURED_CPU_MS = 60;
const TRIES = 5;

test.each(makeHostileBodies())("a dispatch of $name is read in at most six times the CPU time of JSON.parse", ({ bytes, status }) => {
  expect(read(bytes)).toBe(status);
  const ratios: number[] = [];
  // The best of several: garbage of an earlier run is collected in a later one.
  while (ratios.length < TRIES && !ratios.some((ratio) => ratio <= MAX_CPU_RATIO))
    ratios.push(cpuMsOf(() => read(bytes)) / cpuMsOf(() => JSON.parse(bytes.toString())));
  expect(Math.min(...ratios)).toBeLessThanOrEqual(MAX_CPU_RATIO);
});

function read(bytes: Buffer): number {
  try {
    parseDispatch(parseJson(bytes), { defaultProfile: "inspect" });
    return 202;
  } catch (error) {
    if (error instanceof BridgeError) return error.httpStatus;
    throw error;
  }
}

/** Mean CPU time of a run in this thread. */
function cpuMsOf(run: () => void): number {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs += 1) {
    run();
    const { user, system } = process.threadCpuUsage(before);
    const cpuMs = (user + system) / 1000;
    if (cpuMs >= MEASURED_CPU_MS) return cpuMs / runs;
  }
}
