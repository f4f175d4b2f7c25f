import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { collectGarbage } from "../support/collect-garbage.ts";
import { measureCpuMs } from "../support/cpu-time.ts";
import { makeHostileBodies, readBody } from "./hostile-bodies.ts";

/** CPU time of processing a body, relative to that of `JSON.parse` and a SHA-256 hash, which every dispatch needs. */
const MAX_CPU_RATIO = 4.5;
const TRIES = 10;

test.each(makeHostileBodies())(
  "a dispatch of $name is processed in at most 4.5 times the CPU time of JSON.parse and SHA-256",
  ({ bytes, status }) => {
    const ratios: number[] = [];
    // The best of several runs, because other load only adds time.
    while (ratios.length < TRIES && !ratios.some((ratio) => ratio <= MAX_CPU_RATIO))
      ratios.push(measure(() => expect(readBody(bytes)).toBe(status)) / measure(() => parseAndHash(bytes)));
    expect(Math.min(...ratios)).toBeLessThanOrEqual(MAX_CPU_RATIO);
  },
);

function parseAndHash(bytes: Buffer): void {
  JSON.parse(bytes.toString());
  hash("sha256", bytes);
}

function measure(run: () => unknown): number {
  collectGarbage();
  return measureCpuMs(run);
}
