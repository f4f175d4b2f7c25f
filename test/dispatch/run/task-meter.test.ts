import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ExecutionResult, NormalizedUsage, UsageReport } from "#contract";
import { noSpending, type Spending, toSpending } from "../../../src/dispatch/run/spending.ts";
import { createTaskMeter, type EarlierSpending, type TaskMeterOptions } from "../../../src/dispatch/run/task-meter.ts";
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
  const totals: Spending[] = [];
  const meter = createTaskMeter({
    ...{ pricing, vendor: undefined, requestedModel: undefined },
    async report({ spent, event }) {
      stored.push({ spent, data: JSON.parse(event.data) as Record<string, unknown> });
    },
    onChange: (total) => totals.push(total),
    ...options,
  });
  const end = async (result: ExecutionResult): Promise<Spent> => {
    await meter.close();
    const { usage = null, costUsd = null, costSource = null } = await meter.complete(result);
    return { usage, costUsd, costSource };
  };
  return { meter, stored, totals, end };
}

describe("what a task has spent", () => {
  const spent = (usage: NormalizedUsage | null, costUsd: number | null, costSource: Spent["costSource"]) => ({
    usage,
    costUsd,
    costSource,
  });
  const step = { model: "m", usage: tokens(MILLION) };

  test.each<[string, UsageReport[], Partial<ExecutionResult>, Spent]>([
    ["is unknown without a report and a figure", [], {}, spent(null, null, null)],
    ["is the figure of the runtime", [], { usage: tokens(5), costUsd: 0.5, model: "m" }, spent(tokens(5), 0.5, "runtime")],
    ["is the price of its usage", [], { usage: tokens(MILLION, MILLION), model: "m" }, spent(tokens(MILLION, MILLION), 3, "priced")],
    ["has no cost if the model has no price", [], { usage: tokens(MILLION), model: "n" }, spent(tokens(MILLION), null, null)],
    ["has no cost if the model is unknown", [], { usage: tokens(MILLION) }, spent(tokens(MILLION), null, null)],
    ["stays priced in the figure of a council", [], { costUsd: 0.5, costSource: "priced" }, spent(null, 0.5, "priced")],
    ["is unknown if the result has a source and no cost", [], { costSource: "priced" }, spent(null, null, null)],
    ["is the sum of its steps without a figure in the result", [step, step], {}, spent(tokens(2 * MILLION), 2, "priced")],
    [
      "is the sum of the figures of its steps",
      [
        { ...step, costUsd: 0.25 },
        { ...step, costUsd: 0.5 },
      ],
      {},
      spent(tokens(2 * MILLION), 0.75, "runtime"),
    ],
    ["is priced if one step has no figure", [{ ...step, costUsd: 0.25 }, step], {}, spent(tokens(2 * MILLION), 1.25, "priced")],
    ["has no cost if one step has no price", [step, { usage: tokens(5) }], {}, spent(tokens(MILLION + 5), null, null)],
    [
      "is the price of the result if its steps are less",
      [step],
      { usage: tokens(3 * MILLION), model: "m" },
      spent(tokens(3 * MILLION), 3, "priced"),
    ],
    ["is the figure of the runtime, although there are steps", [step], { usage: tokens(7), costUsd: 9 }, spent(tokens(7), 9, "runtime")],
    [
      "has the cost of its steps if they add up to the usage of the result",
      [{ ...step, costUsd: 0.25 }],
      { usage: { ...tokens(MILLION), cacheReadTokens: 3 }, model: "m" },
      spent({ ...tokens(MILLION), cacheReadTokens: 3 }, 0.25, "runtime"),
    ],
    ["has no usage if its steps have only a cost", [{ usage: tokens(0), costUsd: 0.5 }], {}, spent(null, 0.5, "runtime")],
    ["is unknown if a step was not reported", [step, { usage: tokens(0), partial: true }], {}, spent(null, null, null)],
    [
      "is the sum of its calls, although the result has other figures",
      [{ ...step, call }],
      { usage: tokens(7), costUsd: 9 },
      spent(tokens(MILLION), 1, "priced"),
    ],
    ["is the sum of its calls, although there are steps", [step, { ...step, call }, step], {}, spent(tokens(MILLION), 1, "priced")],
    [
      "has the cost that the runtime reports if its calls have no price",
      [{ ...step, model: "n", call }],
      { usage: tokens(7), costUsd: 9 },
      spent(tokens(MILLION), 9, "runtime"),
    ],
    [
      "is nothing if its only call was rejected",
      [{ ...step, usage: tokens(0), call: { ...call, status: 429 } }],
      {},
      spent(tokens(0), 0, "priced"),
    ],
    [
      "is unknown if a call was not reported",
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
    expect(meter.total().shown ?? noSpending.known).toEqual(expected);
  });

  test("a result that includes children has no price as one model", async () => {
    const { meter, end } = open();
    meter.setChild(7, noSpending);
    expect(await end(ok({ usage: tokens(MILLION), model: "m" }))).toEqual(spent(tokens(MILLION), null, null));
  });

  test("an attempt without children has the price of its model, although an earlier attempt had children", async () => {
    const first = open();
    first.meter.setChild(7, toSpending(spent(tokens(10), 10, "runtime")));
    await first.end(ok({ usage: tokens(10), costUsd: 10, costSource: "runtime" }));
    const { meter, end } = open();
    meter.setEarlier(first.meter);
    expect(await end(ok({ usage: tokens(MILLION), model: "m" }))).toEqual(spent(tokens(MILLION + 10), 11, "priced"));
  });

  test("the requested model has the price if the reported one has none", async () => {
    const { meter, end } = open({ requestedModel: "m" });
    meter.add({ model: "m-2026-11-01", usage: tokens(MILLION) });
    expect(await end(ok())).toMatchObject({ costUsd: 1 });
    expect(await open({ requestedModel: "m" }).end(ok({ usage: tokens(MILLION), model: "m-2026-11-01" }))).toMatchObject({ costUsd: 1 });
  });

  test("a total includes the earlier runs of the task", async () => {
    const earlier = spent(tokens(10), 0.5, "runtime");
    const { meter, end, stored } = open();
    meter.setEarlier(toEarlier(earlier));
    meter.add({ ...step, costUsd: 0.25 });
    expect(stored[0]).toMatchObject({ spent: { costUsd: 0.75 }, data: { costUsd: 0.25, total: { costUsd: 0.75 } } });
    expect(await end(ok())).toEqual(spent(tokens(MILLION + 10), 0.75, "runtime"));

    const unknown = open();
    unknown.meter.setEarlier(toEarlier(earlier));
    expect(await unknown.end(ok())).toEqual(spent(null, null, null));
    const unbilled = open();
    unbilled.meter.setEarlier(toEarlier(earlier));
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
  expect(totals.map(({ shown }) => shown?.costUsd)).toEqual([1, 2]);
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

test("a child that reports during the next attempt counts once", async () => {
  const first = open();
  const child = (costUsd: number) => toSpending({ usage: tokens(1), costUsd, costSource: "runtime" });
  first.meter.setChild(7, child(10));
  await first.meter.close();
  await first.meter.complete(ok({ status: "error", errorCode: "model_error" }));
  const { meter, totals } = open();
  meter.setEarlier(first.meter);
  meter.setChild(7, child(12));
  meter.setChild(8, child(1));
  expect(totals.map(({ counted }) => counted.costUsd)).toEqual([10, 12, 13]);
});

test("the total of a task contains the latest total of each child", async () => {
  const { meter, totals, stored } = open();
  meter.add({ usage: tokens(1), costUsd: 1 });
  meter.setChild(7, toSpending({ usage: tokens(10), costUsd: 10, costSource: "runtime" }));
  meter.setChild(7, toSpending({ usage: tokens(20), costUsd: 20, costSource: "runtime" }));
  meter.setChild(8, toSpending({ usage: tokens(100), costUsd: 100, costSource: "priced" }));
  expect(totals.map(({ shown }) => shown?.costUsd)).toEqual([1, 11, 21, 121]);
  expect(meter.total().shown).toEqual({ usage: tokens(121), costUsd: 121, costSource: "priced" });
  // The store contains what the task itself has spent, because its children have their own totals there.
  expect(stored.map(({ spent }) => spent.costUsd)).toEqual([1]);
  await meter.close();
  await meter.complete(ok({ usage: tokens(130), costUsd: 122, costSource: "priced" }));
  expect(meter.total()).toMatchObject({ shown: { costUsd: 122 }, known: { costUsd: 122 }, counted: { costUsd: 122 } });
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

const broken = { model: "m", usage: tokens(MILLION), call: { ...call, incomplete: true }, atMost: tokens(MILLION, MILLION) };

test("a call whose response broke off counts with its largest usage until the end of the task", async () => {
  const { meter, totals, end } = open();
  meter.add({ model: "m", usage: tokens(MILLION), call });
  meter.add(broken);
  const child = (costUsd: number): Spent => ({ usage: tokens(1), costUsd, costSource: "runtime" });
  meter.setChild(7, toSpending(child(10), child(20)));
  await meter.close();
  // The child has reported before the table of prices is loaded.
  expect(totals.map(({ shown }) => shown?.costUsd)).toEqual([10, 11, 12]);
  expect(totals.map(({ counted }) => counted.costUsd)).toEqual([20, 21, 24]);
  expect(await end(ok({ usage: tokens(3 * MILLION), costUsd: 13 }))).toMatchObject({ costUsd: 2 });
  expect(meter.total()).toMatchObject({ shown: { costUsd: 2 }, counted: { costUsd: 24 } });
});

/** What earlier runs without children have stored. */
function toEarlier(stored: Spent): EarlierSpending {
  const spending = toSpending(stored);
  return { own: () => spending, total: () => spending, setChildIfKnown: () => false };
}

describe("what is known counts against a maximum, although", () => {
  const lost: Partial<ExecutionResult> = { status: "error", errorCode: "model_error" };
  const countedOf = (meter: { total(): Spending }) => {
    const { shown, known, counted } = meter.total();
    return { shown: shown?.costUsd, known: known.costUsd, counted: counted.costUsd };
  };

  test("a child has ended without a call", async () => {
    const { meter } = open();
    const child = open({ onChange: (total) => meter.setChild(7, total) });
    await child.end(ok({ status: "error", errorCode: "adapter_offline" }));
    meter.setChild(8, toSpending({ usage: tokens(1), costUsd: 3, costSource: "priced" }));
    expect(countedOf(meter)).toEqual({ shown: 3, known: 3, counted: 3 });
  });

  test("a child has spent an unknown amount", () => {
    const { meter } = open();
    meter.setChild(7, toSpending({ usage: null, costUsd: null, costSource: null }));
    meter.setChild(8, toSpending({ usage: tokens(1), costUsd: 3, costSource: "priced" }));
    expect(countedOf(meter)).toEqual({ shown: null, known: 3, counted: 3 });
  });

  test("a call has no price", async () => {
    const { meter } = open();
    meter.add({ model: "n", usage: tokens(20), call });
    meter.add({ model: "m", usage: tokens(MILLION), call });
    await meter.priced();
    expect(countedOf(meter)).toEqual({ shown: null, known: 1, counted: 1 });
    expect(meter.total().known.usage).toEqual(tokens(MILLION + 20));
  });

  test.each([true, false])("a call of an earlier attempt was not counted (the model has answered: %s)", async (hasAnswered) => {
    const first = open();
    first.meter.add({ ...broken, usage: tokens(0), partial: true });
    await first.meter.close();
    await first.meter.complete(ok(lost), { hasAnswered });
    expect(countedOf(first.meter)).toEqual({ shown: hasAnswered ? null : undefined, known: 0, counted: 3 });
    const second = open();
    second.meter.setEarlier(first.meter);
    second.meter.add({ model: "m", usage: tokens(MILLION), call });
    await second.meter.priced();
    expect(countedOf(second.meter)).toEqual({ shown: hasAnswered ? null : 1, known: 1, counted: 4 });
  });

  test("an attempt that broke off is followed by another one", async () => {
    const first = open();
    first.meter.add(broken);
    await first.end(ok(lost));
    const second = open();
    second.meter.setEarlier(first.meter);
    expect(second.totals.map(({ counted }) => counted.costUsd)).toEqual([3]);
    expect(await second.end(ok({ costUsd: 2 }))).toMatchObject({ costUsd: 3 });
    expect(countedOf(second.meter)).toEqual({ shown: 3, known: 3, counted: 5 });
  });
});
