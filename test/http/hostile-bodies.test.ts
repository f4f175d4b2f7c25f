import { expect, test } from "vitest";
import { measureCpuMs } from "../support/cpu-time.ts";
import { makeHostileBodies, readBody } from "./hostile-bodies.ts";

/** CPU time of parsing and validating a body, relative to that of `JSON.parse`. */
const MAX_CPU_RATIO = 6;
const TRIES = 20;

test.each(makeHostileBodies())("a dispatch of $name is processed in at most six times the CPU time of JSON.parse", ({ bytes, status }) => {
  expect(readBody(bytes)).toBe(status);
  const ratios: number[] = [];
  // The best of several runs, because the garbage of one run is collected in a later one.
  while (ratios.length < TRIES && !ratios.some((ratio) => ratio <= MAX_CPU_RATIO))
    ratios.push(measureCpuMs(() => readBody(bytes)) / measureCpuMs(() => JSON.parse(bytes.toString())));
  expect(Math.min(...ratios)).toBeLessThanOrEqual(MAX_CPU_RATIO);
});
