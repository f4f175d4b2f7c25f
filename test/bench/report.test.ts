import { describe, expect, test } from "vitest";
import type { SliceResult } from "../../bench/driver.ts";
import {
  MAX_ACCEPT_RATIO,
  MAX_BUDGET_RATIO,
  MAX_CPU_RATIOS,
  MAX_SYNCS,
  MIN_BULLMQ_RATIO,
  MIN_RATE_RATIO,
  MIN_RATE_RATIO_P10,
  renderReport,
  type ServerResults,
} from "../../bench/report.ts";

const QUIET = { loadBefore: 0, fsyncMs: [0.5, 0.5, 0.5], missingTracer: null };
const GOALS = {
  rates: [MIN_RATE_RATIO],
  peerRatio: MIN_BULLMQ_RATIO,
  cpu: MAX_CPU_RATIOS,
  budget: MAX_BUDGET_RATIO,
  accept: MAX_ACCEPT_RATIO,
  syncs: MAX_SYNCS,
};

describe("renderReport", () => {
  test.each([
    { title: "every goal exactly reached", missed: 0 },
    { title: "too few tasks per second", rates: [MIN_RATE_RATIO - 0.01], missed: 2 },
    { title: "a slow tenth of the slices", rates: [MIN_RATE_RATIO_P10 - 0.2, 1, 1], missed: 2 },
    { title: "too few tasks per second compared with BullMQ", peerRatio: MIN_BULLMQ_RATIO - 0.1, missed: 2 },
    { title: "too much CPU time", cpu: { 32: MAX_CPU_RATIOS[32] + 0.1, 256: MAX_CPU_RATIOS[256] + 0.1 }, missed: 2 },
    { title: "too much CPU time with 256 in flight", cpu: { 32: MAX_CPU_RATIOS[32], 256: MAX_CPU_RATIOS[32] }, missed: 1 },
    { title: "too much CPU time with a budget", budget: MAX_BUDGET_RATIO + 0.01, missed: 2 },
    { title: "a slow accept", accept: MAX_ACCEPT_RATIO + 0.1, missed: 1 },
    { title: "too many syncs", syncs: MAX_SYNCS + 0.1, missed: 1 },
  ])("renderReport reports $missed missed goals for $title", ({ title: _, missed, ...results }) => {
    const { text, met } = renderReport(listResults({ ...GOALS, ...results }), QUIET);
    expect(text.match(/goal missed/g)?.length ?? 0).toBe(missed);
    expect(met).toBe(missed === 0);
  });

  test("renderReport does not meet a goal that was not measured", () => {
    const untraced = listResults({}).map((result) => ({ ...result, counts, syncs: null }));
    const { text, met } = renderReport(untraced, { ...QUIET, missingTracer: "strace is missing" });
    expect(text).toContain("| syncs per task, 1 in flight | at most 3 | | **not measured** |");
    expect(text).toContain("| bridge | 1.0 | 1 | 1.0 | 1.0 | not counted, strace is missing |");
    expect(met).toBe(false);
  });

  test("renderReport reports the syncs per task of the floor and of Bridge", () => {
    const { text } = renderReport(
      listResults({ syncs: 2.5 }).map((result) => ({ ...result, counts })),
      QUIET,
    );
    expect(text).toContain("| syncs per task, 1 in flight | at most 3 | 2.50 | goal met |");
    expect(text).toContain("| bridge | 1.0 | 1 | 1.0 | 1.0 | 2.50 |");
    expect(text).toContain("| bare | 1.0 | 1 | 1.0 | 1.0 |  |");
  });

  test("renderReport compares slices of the same turn, so that a change that affects both servers does not change the ratio", () => {
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
      "| tasks/s x floor, 32 in flight | at least 0.5, p10 at least 0.45 | 0.60 (0.60 to 0.60) | goal met |",
    );
  });

  test("renderReport compares this checkout with another one, slice by slice", () => {
    const [floor, bridge] = listResults({}) as [ServerResults, ServerResults];
    const other = server(
      "bridge@/base",
      [1, 32, 256],
      [1, 1, 1].map(() => slice({ tasksPerSecond: 50, cpuMsPerTask: 2 })),
    );
    expect(renderReport([floor, bridge, other], QUIET).text).toContain("| bridge@/base | 32 | 0.50 (0.50 to 0.50) | 2.00 (2.00 to 2.00) |");
  });

  test("renderReport reports an absent server with the command that installs it", () => {
    const absent = { ...server("bullmq-always", [], []), absence: "BullMQ is missing: npm ci --prefix bench/peers" };
    const { text, met } = renderReport([...listResults({}), absent], QUIET);
    expect(text).toContain("| bullmq-always | absent: BullMQ is missing: npm ci --prefix bench/peers |");
    expect(met).toBe(true);
  });

  test("renderReport declares every goal invalid if a slice lost an event", () => {
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
  ])("renderReport reports noise: $noisy, at load $loadBefore and floor rates of $rates", ({ loadBefore, rates, noisy }) => {
    const floor = server(
      "floor",
      [32, 256],
      rates.map((tasksPerSecond) => slice({ tasksPerSecond })),
    );
    expect(renderReport([floor], { ...QUIET, loadBefore }).text.includes("**Noisy**")).toBe(noisy);
  });
});

const counts = { statements: 1, promises: 1, writtenKiB: 1, diskKiB: 1 };

/**
 * Floor, Bridge without and with a budget, bare server and BullMQ, with three slices each. Slice n of Bridge completes `rates[n]` of the
 * floor's tasks, or `rates[0]`.
 */
function listResults({ rates = [1], peerRatio = 2, cpu = { 32: 1, 256: 1 }, budget = 1, accept = 1, syncs = 1 }): ServerResults[] {
  const three = (given: (tasksPerSecond: number) => Partial<SliceResult>) =>
    [0, 1, 2].map((index) => slice(given(100 * (rates[index] ?? (rates[0] as number)))));
  const bridge = (cpuMsPerTask: number) => three((tasksPerSecond) => ({ tasksPerSecond, cpuMsPerTask, acceptP50Ms: accept }));
  return [
    {
      ...server(
        "floor",
        [1, 32, 256],
        three(() => ({})),
      ),
      syncs: 2,
    },
    {
      ...server("bridge", [], []),
      slices: new Map([
        [1, bridge(1)],
        [32, bridge(cpu[32])],
        [256, bridge(cpu[256])],
      ]),
      syncs,
    },
    {
      ...server("bridge-budget", [], []),
      slices: new Map([
        [32, bridge(cpu[32] * budget)],
        [256, bridge(cpu[256] * budget)],
      ]),
      syncs,
    },
    // The fsync of 0.5 ms and the bare request of 0.5 ms add up to 1 ms.
    server(
      "bare",
      [1],
      three(() => ({ acceptP50Ms: 0.5 })),
    ),
    server(
      "bullmq-everysec",
      [1, 32, 256],
      three((tasksPerSecond) => ({ tasksPerSecond: tasksPerSecond / peerRatio })),
    ),
  ];
}

function server(name: ServerResults["name"], inFlight: readonly number[], slices: readonly SliceResult[]): ServerResults {
  return { name, absence: null, slices: new Map(inFlight.map((number) => [number, slices])), counts: null, syncs: null };
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
