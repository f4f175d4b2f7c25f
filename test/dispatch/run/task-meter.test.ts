import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ExecutionResult, NormalizedUsage, UsageReport } from "#contract";
import { createTaskMeter, type TaskMeterOptions } from "../../../src/dispatch/run/task-meter.ts";
import { createPricing } from "../../../src/pricing/pricing.ts";
import type { Spent } from "../../../src/task.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pricing = createPricing({ m: { input: 1, output: 2 } }, { error: vi.fn() });
const tokens = (inputTokens: number, outputTokens = 0): NormalizedUsage => ({ inputTokens, outputTokens });
const MILLION = 1_000_000;
const ok = (fields: Partial<ExecutionResult> = {}): ExecutionResult => ({
  status: "ok",
  durationMs: 1,
  connection: "cli",
  ...fields,
});
const call = { startedAt: 1_795_000_000_000, durationMs: 5, status: 200 };

function open(options: Partial<TaskMeterOptions> = {}) {
  const stored: { spent: Spent; data: Record<string, unknown> }[] = [];
  const totals: Spent[] = [];
  const meter = createTaskMeter({
    ...{ pricing, vendor: undefined, requestedModel: undefined },
    async report({ spent, event }) {
      stored.push({ spent, data: JSON.parse(event.data) as Record<string, unknown> });
    },
    onChange: (total) => totals.push(total),
    ...options,
  });
  const end = async (result: ExecutionResult, { hasChildren = false } = {}): Promise<Spent> => {
    await meter.close();
    const { usage = null, costUsd = null, costSource = null } = await meter.complete(result, { hasChildren });
    return { usage, costUsd, costSource };
  };
  return { meter, stored, totals, end };
}

describe("the spending of a task is decided by its result and by its reports:", () => {
  const spent = (usage: NormalizedUsage | null, costUsd: number | null, costSource: Spent["costSource"]) => ({
    usage,
    costUsd,
    costSource,
  });
  const step = { model: "m", usage: tokens(MILLION) };

  test.each<[string, UsageReport[], Partial<ExecutionResult>, Spent]>([
    ["nothing is unknown", [], {}, spent(null, null, null)],
    ["the runtime's own figure", [], { usage: tokens(5), costUsd: 0.5, model: "m" }, spent(tokens(5), 0.5, "runtime")],
    ["the price of the usage", [], { usage: tokens(MILLION, MILLION), model: "m" }, spent(tokens(MILLION, MILLION), 3, "priced")],
    ["an unknown price", [], { usage: tokens(MILLION), model: "n" }, spent(tokens(MILLION), null, null)],
    ["an unknown model", [], { usage: tokens(MILLION) }, spent(tokens(MILLION), null, null)],
    ["the figure of a council of priced tasks", [], { costUsd: 0.5, costSource: "priced" }, spent(null, 0.5, "priced")],
    ["a source without a cost", [], { costSource: "priced" }, spent(null, null, null)],
    ["steps without a result", [step, step], {}, spent(tokens(2 * MILLION), 2, "priced")],
    [
      "steps with a figure of the runtime",
      [
        { ...step, costUsd: 0.25 },
        { ...step, costUsd: 0.5 },
      ],
      {},
      spent(tokens(2 * MILLION), 0.75, "runtime"),
    ],
    ["steps of both kinds", [{ ...step, costUsd: 0.25 }, step], {}, spent(tokens(2 * MILLION), 1.25, "priced")],
    ["steps of which one has no price", [step, { usage: tokens(5) }], {}, spent(tokens(MILLION + 5), null, null)],
    ["steps that are less than the result", [step], { usage: tokens(3 * MILLION), model: "m" }, spent(tokens(3 * MILLION), 3, "priced")],
    ["steps and the runtime's own figure", [step], { usage: tokens(7), costUsd: 9 }, spent(tokens(7), 9, "runtime")],
    [
      "steps with the runtime's figure for all of the result",
      [{ ...step, costUsd: 0.25 }],
      { usage: { ...tokens(MILLION), cacheReadTokens: 3 }, model: "m" },
      spent({ ...tokens(MILLION), cacheReadTokens: 3 }, 0.25, "runtime"),
    ],
    ["steps that only have a cost", [{ usage: tokens(0), costUsd: 0.5 }], {}, spent(null, 0.5, "runtime")],
    ["steps that are not all", [step, { usage: tokens(0), partial: true }], {}, spent(null, null, null)],
    ["calls, whatever the result says", [{ ...step, call }], { usage: tokens(7), costUsd: 9 }, spent(tokens(MILLION), 1, "priced")],
    ["calls and steps", [step, { ...step, call }, step], {}, spent(tokens(MILLION), 1, "priced")],
    [
      "calls without a price, and the runtime's own figure",
      [{ ...step, model: "n", call }],
      { usage: tokens(7), costUsd: 9 },
      spent(tokens(MILLION), 9, "runtime"),
    ],
    ["a call that used nothing", [{ ...step, usage: tokens(0), call: { ...call, status: 429 } }], {}, spent(tokens(0), 0, "priced")],
    [
      "calls that are not all",
      [
        { ...step, call },
        { usage: tokens(0), call, partial: true },
      ],
      {},
      spent(null, null, null),
    ],
  ])("%s", async (_, reports, result, expected) => {
    const { meter, end } = open();
    for (const report of reports) expect(meter.add(report)).toBe(true);
    expect(await end(ok(result))).toEqual(expected);
    expect(meter.total()).toEqual(expected);
  });

  test("a result that includes its children is not priced as one model", async () => {
    expect(await open().end(ok({ usage: tokens(MILLION), model: "m" }), { hasChildren: true })).toEqual(spent(tokens(MILLION), null, null));
  });

  test("the requested model has the price if the reported one has none", async () => {
    const { meter, end } = open({ requestedModel: "m" });
    meter.add({ model: "m-2026-11-01", usage: tokens(MILLION) });
    expect(await end(ok())).toMatchObject({ costUsd: 1 });
    expect(await open({ requestedModel: "m" }).end(ok({ usage: tokens(MILLION), model: "m-2026-11-01" }))).toMatchObject({ costUsd: 1 });
  });

  test("earlier runs of the task count", async () => {
    const earlier = spent(tokens(10), 0.5, "runtime");
    const { meter, end, stored } = open();
    meter.setEarlier(earlier);
    meter.add({ ...step, costUsd: 0.25 });
    expect(stored[0]).toMatchObject({ spent: { costUsd: 0.75 }, data: { costUsd: 0.25, total: { costUsd: 0.75 } } });
    expect(await end(ok())).toEqual(spent(tokens(MILLION + 10), 0.75, "runtime"));

    const unknown = open();
    unknown.meter.setEarlier(earlier);
    expect(await unknown.end(ok())).toEqual(spent(null, null, null));
    const unbilled = open();
    unbilled.meter.setEarlier(earlier);
    expect(await unbilled.end(ok({ status: "error", errorCode: "spawn_failed" }))).toEqual(earlier);
  });
});

describe("the events of a task", () => {
  const step = (costUsd: number, model = "m"): UsageReport => ({ model, usage: tokens(1), costUsd });

  test("combine the reports of a second, except the first one", async () => {
    const { meter, stored } = open();
    for (const costUsd of [1, 2, 4]) meter.add(step(costUsd));
    expect(stored.map(({ data }) => data["costUsd"])).toEqual([1]);
    await vi.advanceTimersByTimeAsync(999);
    expect(stored).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(stored[1]).toEqual({
      spent: { usage: tokens(3), costUsd: 7, costSource: "runtime" },
      data: {
        ...{ model: "m", usage: tokens(2), costUsd: 6, costSource: "runtime" },
        total: { usage: tokens(3), costUsd: 7, costSource: "runtime" },
      },
    });
    await vi.advanceTimersByTimeAsync(5000);
    expect(stored).toHaveLength(2);
    meter.add(step(8, "other"));
    expect(stored[2]?.data).toMatchObject({ model: "other", costUsd: 8 });
  });

  test("name no model if they combine several", async () => {
    const { meter, stored } = open();
    for (const model of ["m", "m", "n"]) meter.add(step(1, model));
    await meter.close();
    expect(stored.map(({ data }) => data["model"])).toEqual(["m", null]);
  });

  test("contain the last report when the task ends, and no later one", async () => {
    const { meter, stored } = open();
    meter.add(step(1));
    meter.add(step(2));
    await meter.close();
    expect(stored.map(({ spent }) => spent.costUsd)).toEqual([1, 3]);
    expect(meter.add(step(4))).toBe(false);
    await vi.advanceTimersByTimeAsync(5000);
    expect(stored).toHaveLength(2);
  });

  test("wait for the store", async () => {
    const written = Promise.withResolvers<void>();
    const report = vi.fn(() => written.promise);
    const { meter } = open({ report });
    meter.add(step(1));
    meter.add(step(2));
    await vi.advanceTimersByTimeAsync(5000);
    expect(report).toHaveBeenCalledTimes(1);
    written.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(report).toHaveBeenCalledTimes(2);
  });

  test("contain at most 20 calls", async () => {
    const { meter, stored } = open();
    for (let index = 0; index < 50; index += 1) meter.add({ ...step(1), call });
    await meter.close();
    expect(stored.map(({ data }) => (data["calls"] as unknown[]).length)).toEqual([1, 20, 20, 9]);
    expect(stored[0]?.data["calls"]).toEqual([{ model: "m", usage: tokens(1), costUsd: 1, ...call }]);
    expect(stored.at(-1)?.spent.costUsd).toBe(50);
  });
});

test("steps do not count once a call was reported", () => {
  const { meter, totals, stored } = open();
  meter.add({ usage: tokens(1), costUsd: 1 });
  meter.add({ usage: tokens(2), costUsd: 2, call });
  meter.add({ usage: tokens(4), costUsd: 4 });
  expect(totals.map(({ costUsd }) => costUsd)).toEqual([1, 2]);
  expect(stored).toHaveLength(1);
});

test("the reports wait for the table of prices, and the end of the task waits for the reports", async () => {
  const loaded = Promise.withResolvers<void>();
  const priced = vi.fn(pricing.priceOf);
  const { meter, stored, end } = open({ pricing: { load: () => loaded.promise, priceOf: priced } });
  meter.add({ model: "m", usage: tokens(MILLION) });
  meter.add({ model: "m", usage: tokens(MILLION) });
  const ended = end(ok());
  expect(priced).not.toHaveBeenCalled();
  loaded.resolve();
  expect(await ended).toMatchObject({ costUsd: 2, costSource: "priced" });
  expect(stored.at(-1)?.spent).toMatchObject({ costUsd: 2 });
});

test("a figure of the runtime needs no table of prices", async () => {
  const load = vi.fn(() => Promise.resolve());
  const { meter, end } = open({ pricing: { load, priceOf: () => null } });
  meter.add({ usage: tokens(1), costUsd: 1 });
  await end(ok({ usage: tokens(1), costUsd: 1 }));
  await open({ pricing: { load, priceOf: () => null } }).end(ok({ usage: tokens(1) }));
  expect(load).not.toHaveBeenCalled();
});

test("the total of a task contains the latest total of each child", async () => {
  const { meter, totals, stored } = open();
  meter.add({ usage: tokens(1), costUsd: 1 });
  meter.setChild(7, { usage: tokens(10), costUsd: 10, costSource: "runtime" });
  meter.setChild(7, { usage: tokens(20), costUsd: 20, costSource: "runtime" });
  meter.setChild(8, { usage: tokens(100), costUsd: 100, costSource: "priced" });
  expect(totals.map(({ costUsd }) => costUsd)).toEqual([1, 11, 21, 121]);
  expect(meter.total()).toEqual({ usage: tokens(121), costUsd: 121, costSource: "priced" });
  // The store contains what the task itself has spent, because its children have their own totals there.
  expect(stored.map(({ spent }) => spent.costUsd)).toEqual([1]);
  await meter.close();
  await meter.complete(ok({ usage: tokens(130), costUsd: 122, costSource: "priced" }), { hasChildren: true });
  expect(meter.total()).toMatchObject({ costUsd: 122 });
});

test.each([
  ["no usage", {}],
  ["a negative count", { usage: tokens(-1) }],
  ["a negative cost", { usage: tokens(1), costUsd: -1 }],
])("a report with %s is not counted", async (_, report) => {
  const { meter, end } = open();
  expect(meter.add(report as UsageReport)).toBe(false);
  expect(await end(ok())).toEqual({ usage: null, costUsd: null, costSource: null });
});
