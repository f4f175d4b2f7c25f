import { expect, onTestFinished, test } from "vitest";
import type { Step } from "./model-server/scenarios.ts";
import { openCellBench } from "./table/cell-bench.ts";
import { runtimes } from "./table/runtimes.ts";

/** At this price, each call of the scripted model costs 15 cents. */
const prices = { [runtimes.claude.model]: { input: 1000, output: 0 } };

test("Claude Code waits in mid-task for a higher maximum, and completes the task with it", async () => {
  const bench = await openCellBench("claude", "acp", {
    BRIDGE_MODEL_PROXY: "required",
    BRIDGE_MODEL_PRICES: JSON.stringify(prices),
  });
  onTestFinished(() => bench.close());
  const { bridge, model } = bench;
  const shell = (command: string): Step => ({ tools: [{ kind: "shell", command }] });
  const message = model.scenario([shell("echo one"), shell("echo two"), shell("echo three"), { text: "Done." }]);
  const taskId = await bench.dispatch({ message, profile: "modify", budget: { maxCostUsd: 0.2, onReached: "ask" } });

  const listApprovals = async () =>
    ((await (await bridge.call("GET", "/api/v2/approvals")).json()) as { data: Record<string, unknown>[] }).data;
  await expect.poll(listApprovals, { timeout: 60_000, interval: 50 }).toHaveLength(1);
  const [approval] = await listApprovals();
  expect(approval).toMatchObject({ taskId, kind: "budget", state: "pending", input: { maxCostUsd: 0.2, spentUsd: expect.any(Number) } });
  expect(await (await bridge.call("GET", `/api/v2/tasks/${taskId}`)).json()).toMatchObject({ state: "running", waitingOn: "approval" });
  const answersAtMaximum = model.usages.length;

  const decision = { decision: "approve", raiseByUsd: 5 };
  expect((await bridge.call("POST", `/api/v2/approvals/${approval?.["approvalId"]}`, decision)).status).toBe(200);
  const { state, result } = await bench.ended(taskId);
  expect({ state, error: result?.error, output: result?.output }).toEqual({ state: "completed", output: "Done." });
  expect(result?.costUsd).toBeGreaterThan(0.2);
  expect(model.usages.length).toBeGreaterThan(answersAtMaximum);
  expect((await bench.events(taskId)).filter(({ type }) => type === "tool.completed")).toHaveLength(3);
  expect(await listApprovals()).toMatchObject([{ state: "approved", raiseByUsd: 5 }]);
  expect(await bench.leftovers()).toEqual([]);
});
