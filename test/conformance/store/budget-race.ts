import { expect } from "vitest";
import type { BudgetLimit } from "../../../src/store/budgets/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Task } from "../../../src/task.ts";
import { claim, newFinish, newTask } from "./fixtures.ts";

const TASKS = 200;
const DOLLAR = 1_000_000;
const limit: BudgetLimit = {
  ...{ name: "b", startsAt: 0, endsAt: Number.MAX_SAFE_INTEGER, maxMicros: 10 * DOLLAR, maxTokens: null, warnAt: [0.5] },
  ...{ tenant: null, provider: null },
};
const REPORT = {
  spent: { costUsd: 1e-6, costSource: "priced", usage: null },
  event: { type: "usage.reported", data: "{}" },
} as const;

/**
 * Lets 200 tasks start, report, end and be queued again at the same time on some nodes. Each reserves one of the ten dollars of a budget,
 * and costs two millionths. Checks that never more than ten have reserved, and that each cost counts once.
 */
export async function raceForBudget(nodes: readonly Store[]): Promise<void> {
  const [first] = nodes as [Store];
  for (const node of nodes) node.useBudgets({ limitsAt: () => [limit], onReached() {}, onRoom() {} });
  const asks = [{ name: "b", askMicros: DOLLAR, askTokens: null }];
  const finish = newFinish({ result: { ...newFinish().result, costUsd: 2e-6 } });
  let ended = 0;

  async function run(node: Store, task: Task): Promise<void> {
    await node.reportUsageIfRunning(task, REPORT);
    if (Number(task.taskId) % 7 === 0 && (await node.requeueTaskIfRunning(task))) return;
    if ((await node.finishTaskIfRunning(task, finish)) !== null) ended += 1;
  }

  async function work(node: Store): Promise<void> {
    while (ended < TASKS) {
      const task = await claim(node);
      const [counts] = await node.readBudgets([limit]);
      expect((counts?.reservedMicros ?? 0) + (counts?.spentMicros ?? 0)).toBeLessThanOrEqual(10 * DOLLAR);
      if (task !== null) await run(node, task);
    }
  }

  /** Half of the inserts start their tasks, if there is room. */
  async function insert(index: number): Promise<void> {
    const node = nodes[index % nodes.length] as Store;
    const { task } = await node.insertTaskIfAbsent(newTask({ taskId: String(index), agentId: `a${index}`, asks }), {
      starts: index % 2 === 0,
    });
    if (task.state === "running") await run(node, task);
  }

  const inserts = Array.from({ length: TASKS }, (_, index) => insert(index));
  await Promise.all([...inserts, ...nodes.flatMap((node) => Array.from({ length: 8 }, () => work(node)))]);
  expect(await first.readBudgets([limit])).toEqual([
    expect.objectContaining({ reservedMicros: 0, estimatedMicros: 0, spentMicros: 2 * TASKS }),
  ]);
}
