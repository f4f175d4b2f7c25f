import { describe, expect, test } from "vitest";
import type { SliceResult } from "../../bench/driver.ts";
import { MAX_ACCEPT_RATIO, MAX_CPU_RATIO, MIN_RATE_RATIO, renderReport, type ServerResults } from "../../bench/report.ts";

const QUIET = { loadBefore: 0, fsyncMs: [0.5, 0.5, 0.5] };

describe("renderReport", () => {
  test.each([
    { title: "every goal exactly reached", rate: MIN_RATE_RATIO, cpu: MAX_CPU_RATIO, accept: MAX_ACCEPT_RATIO, missed: 0 },
    { title: "too few tasks per second", rate: MIN_RATE_RATIO - 0.1, cpu: MAX_CPU_RATIO, accept: MAX_ACCEPT_RATIO, missed: 2 },
    { title: "too much CPU time", rate: MIN_RATE_RATIO, cpu: MAX_CPU_RATIO + 0.1, accept: MAX_ACCEPT_RATIO, missed: 2 },
    { title: "a slow accept", rate: MIN_RATE_RATIO, cpu: MAX_CPU_RATIO, accept: MAX_ACCEPT_RATIO + 0.1, missed: 1 },
  ])("reports $missed missed goals for $title", ({ rate, cpu, accept, missed }) => {
    const { text, met } = renderReport(listResults({ rate, cpu, accept }), QUIET);
    expect(text.match(/goal missed/g)?.length ?? 0).toBe(missed);
    expect(met).toBe(missed === 0);
  });

  test("compares slices of the same turn, so that a change that affects both servers does not change the ratio", () => {
    const floor = server(
      "floor",
      [32, 256],
      [slice({ tasksPerSecond: 1000 }), slice({ tasksPerSecond: 100 }), slice({ tasksPerSecond: 500 })],
    );
    const bridge = server(
      "bridge",
      [32, 256],
      [slice({ tasksPerSecond: 600 }), slice({ tasksPerSecond: 60 }), slice({ tasksPerSecond: 300 })],
    );
    expect(renderReport([floor, bridge], QUIET).text).toContain(
      "| tasks/s x floor, 32 in flight | at least 0.5 | 0.60 (0.60 to 0.60) | goal met |",
    );
  });

  test("compares this checkout with another one, slice by slice", () => {
    const [floor, bridge] = listResults({}) as [ServerResults, ServerResults];
    const other = server(
      "bridge@/base",
      [1, 32, 256],
      [1, 1, 1].map(() => slice({ tasksPerSecond: 50, cpuMsPerTask: 2 })),
    );
    expect(renderReport([floor, bridge, other], QUIET).text).toContain("| bridge@/base | 32 | 0.50 (0.50 to 0.50) | 2.00 (2.00 to 2.00) |");
  });

  test("reports an absent server with the command that installs it", () => {
    const absent = { ...server("bullmq-always", [], []), absence: "BullMQ is missing: npm ci --prefix bench/peers" };
    const { text, met } = renderReport([...listResults({}), absent], QUIET);
    expect(text).toContain("| bullmq-always | absent: BullMQ is missing: npm ci --prefix bench/peers |");
    expect(met).toBe(true);
  });

  test("declares every goal invalid if a slice lost an event", () => {
    const results = listResults({});
    const lossy = server("bullmq-everysec", [32], [slice({ faults: ["19 events of 20"] })]);
    const { text, met } = renderReport([...results, lossy], QUIET);
    expect(text).toContain("bullmq-everysec: 19 events of 20");
    expect(text).not.toContain("goal met");
    expect(met).toBe(false);
  });

  test.each([
    { loadBefore: 0, rates: [100, 100, 100], noisy: false },
    { loadBefore: 9, rates: [100, 100, 100], noisy: true },
    { loadBefore: 0, rates: [100, 300, 100], noisy: true },
  ])("reports noise: $noisy, at load $loadBefore and floor rates of $rates", ({ loadBefore, rates, noisy }) => {
    const floor = server(
      "floor",
      [32, 256],
      rates.map((tasksPerSecond) => slice({ tasksPerSecond })),
    );
    expect(renderReport([floor], { ...QUIET, loadBefore }).text.includes("**Noisy**")).toBe(noisy);
  });
});

/** Floor, Bridge and bare server; Bridge has the given ratios in each of three slices. */
function listResults({ rate = 1, cpu = 1, accept = 1 }): ServerResults[] {
  const three = (one: SliceResult) => [one, one, one];
  return [
    server("floor", [1, 32, 256], three(slice({}))),
    // The fsync of 0.5 ms and the bare request of 0.5 ms add up to 1 ms.
    server("bridge", [1, 32, 256], three(slice({ tasksPerSecond: 100 * rate, cpuMsPerTask: cpu, acceptP50Ms: accept }))),
    server("bare", [1], three(slice({ acceptP50Ms: 0.5 }))),
  ];
}

function server(name: ServerResults["name"], inFlight: readonly number[], slices: readonly SliceResult[]): ServerResults {
  return { name, absence: null, slices: new Map(inFlight.map((number) => [number, slices])), counts: null };
}

function slice(given: Partial<SliceResult>): SliceResult {
  return {
    tasksPerSecond: 100,
    cpuMsPerTask: 1,
    acceptP50Ms: 1,
    acceptP99Ms: 1,
    endToEndP50Ms: 1,
    endToEndP99Ms: 1,
    dispatched: 100,
    faults: [],
    ...given,
  };
}
