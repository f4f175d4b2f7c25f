import { expect, test } from "vitest";
import { parseDispatch } from "../../src/dispatch/dispatch-request.ts";
import { BridgeError } from "../../src/errors.ts";
import { parseJson } from "../../src/http/parse-json.ts";
import { measureCpuMs } from "./cpu-time.ts";
import { makeHostileBodies } from "./hostile-bodies.ts";

/** CPU time of reading and checking a body, in that of `JSON.parse`. */
const MAX_CPU_RATIO = 6;
const TRIES = 5;

test.each(makeHostileBodies())("a dispatch of $name is read in at most six times the CPU time of JSON.parse", ({ bytes, status }) => {
  expect(read(bytes)).toBe(status);
  const ratios: number[] = [];
  // The best of several: garbage of an earlier run is collected in a later one.
  while (ratios.length < TRIES && !ratios.some((ratio) => ratio <= MAX_CPU_RATIO))
    ratios.push(measureCpuMs(() => read(bytes)) / measureCpuMs(() => JSON.parse(bytes.toString())));
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
