import { rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { openBudgetsFile } from "../../src/budgets/budgets-file.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const valid = { name: "day", scope: { tenant: "a", "label.job": "nightly" }, per: "day", timezone: "Europe/Zurich", maxCostUsd: 50 };

async function open(content: unknown) {
  const file = path.join(await temporaryDirectory(), "budgets.json");
  const write = async (text: unknown) => {
    await writeFile(`${file}.new`, JSON.stringify(text));
    await rename(`${file}.new`, file);
  };
  await write(content);
  const log: Record<string, unknown>[] = [];
  let reloads = 0;
  const opened = openBudgetsFile({
    file,
    logger: pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    pollMs: 5,
    onReloaded: () => {
      reloads += 1;
    },
  });
  onTestFinished(opened.close);
  return { write, log, reloads: () => reloads, names: () => opened.budgets().map(({ name }) => name), ...opened };
}

test("the budgets file has defaults for what an entry omits", async () => {
  const { budgets } = await open([valid, { name: "all", per: "month", maxTokens: 1000, warnAt: [0.9, 0.5, 0.9], whenReached: "wait" }]);
  expect(budgets()).toEqual([
    {
      ...{ name: "day", scope: { tenant: "a", labels: { job: "nightly" } }, per: "day", timezone: "Europe/Zurich" },
      ...{ maxMicros: 50_000_000, maxTokens: null, warnAt: [0.8], whenReached: "refuse" },
    },
    {
      ...{ name: "all", scope: { labels: {} }, per: "month", timezone: "UTC" },
      ...{ maxMicros: null, maxTokens: 1000, warnAt: [0.5, 0.9], whenReached: "wait" },
    },
  ]);
});

test.each<[string, unknown, string]>([
  ["another value than an array", {}, "must be an array, for example [{"],
  ["an unknown field", [{ ...valid, maxCost: 5 }], "0.maxCost is not a known field; did you mean maxCostUsd?"],
  ["no period", [{ ...valid, per: undefined }], '0.per must be one of "task", "hour", "day", "month"'],
  ["an unknown condition", [{ ...valid, scope: { team: "x" } }], "0.scope.team is not a known condition; use tenant, agentId"],
  ["a label without a name", [{ ...valid, scope: { "label.": "x" } }], "0.scope.label. is not a known condition"],
  ["an unknown time zone", [{ ...valid, timezone: "Zurich" }], "0.timezone is not a known time zone; use a name such as"],
  ["no maximum", [{ ...valid, maxCostUsd: null }], "0 has no maximum; set maxCostUsd, maxTokens or both"],
  ["a maximum of 0", [{ ...valid, maxCostUsd: 0 }], "0.maxCostUsd must be at least 0.000001"],
  ["a repeated name", [valid, { ...valid, per: "hour" }], "1.name day is the name of another budget; choose a unique name"],
  ["a threshold above 1", [{ ...valid, warnAt: [80] }], "0.warnAt.0 must be above 0 and at most 1, for example 0.8"],
  ["a task that waits", [{ ...valid, per: "task", whenReached: "wait" }], '0.whenReached must be "refuse" if per is "task"'],
])("the budgets file refuses %s, and names the field and the correction", async (_, content, fault) => {
  const error = await open(content).catch((error: unknown) => error);
  expect(error).toMatchObject({ faults: [expect.stringContaining(`BRIDGE_BUDGETS_FILE: ${fault}`)] });
});

test("a version with faults leaves the previous budgets in force and logs all faults, until a valid version is there", async () => {
  const { write, log, names, faults, reloads } = await open([valid]);
  await write([
    { ...valid, timezone: "Zurich", maxCostUsd: -1 },
    { name: "other", per: "week", maxTokens: 1 },
  ]);
  await vi.waitFor(() => expect(faults()).toHaveLength(3));
  expect(names()).toEqual(["day"]);
  expect(log).toEqual([expect.objectContaining({ msg: "budgets file is not valid, previous budgets stay in force", faults: faults() })]);
  await write([{ ...valid, name: "next" }]);
  await vi.waitFor(() => expect(names()).toEqual(["next"]));
  expect([faults(), reloads()]).toEqual([[], 1]);
});
