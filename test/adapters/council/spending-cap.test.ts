import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { findRuntimeProcesses } from "../../crash/leftover-processes.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { expert, openCouncil, startBridge } from "./open-council.ts";

test("a council whose members reach the maximum of its budget ends with budget_exceeded, spends once, and leaves no process", async () => {
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, "budgets.json");
  writeFileSync(file, JSON.stringify([{ name: "all", per: "month", maxCostUsd: 5 }]));
  const own = await startBridge(dataDir, { BRIDGE_BUDGETS_FILE: file });
  const { bridge, dispatch, asked, ended, taskId } = await openCouncil({ [expert]: "silence" }, own);
  // Each of the two members that answer costs 0.25.
  expect((await dispatch({ intensity: "quick" }, { budget: { maxCostUsd: 0.4 } })).status).toBe(202);
  expect(await ended("failed")).toMatchObject({
    errorCode: "budget_exceeded",
    error: "The task has spent 0.5 US dollars, and its budget permits 0.4.",
  });
  expect(asked()).toHaveLength(3);
  await expect.poll(() => findRuntimeProcesses(dataDir)).toEqual([]);
  const statesOfMembers = async () => {
    const { data } = (await (await bridge.call("GET", `/api/v2/tasks?parentTaskId=${taskId}`)).json()) as { data: { state: string }[] };
    return data.map(({ state }) => state).toSorted();
  };
  await expect.poll(statesOfMembers).toEqual(["cancelled", "completed", "completed"]);
  const budgets = (await (await bridge.call("GET", "/api/v2/budgets")).json()) as { data: object[] };
  expect(budgets.data).toMatchObject([{ spentUsd: 0.5, reservedUsd: 0 }]);
});
