import { pino } from "pino";
import { expect, test, vi } from "vitest";
import type { Approvals } from "../../../src/approvals/approvals.ts";
import { createInterruptedTasks } from "../../../src/dispatch/end/interrupted-tasks.ts";
import { createTreeEnds } from "../../../src/dispatch/run/tree-ends.ts";
import { type Reservation, settle, toEmptyPeriod, toRunTotal } from "../../../src/store/budgets/rows.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Finish } from "../../../src/store/tasks/interface.ts";
import type { Task } from "../../../src/task.ts";
import { newDispatch } from "../engine.ts";

test("the end of an interrupted task takes back nothing that its budgets have counted, also after a cancellation", async () => {
  const { request } = newDispatch();
  const task = { seq: 1, tenant: "default", taskId: "t", state: "running", parentSeq: null, restarts: 0, request } as Task;
  const finishes: Finish[] = [];
  const store: Partial<Store> = {
    listInterruptedTasks: async () => [{ task, stop: { code: "cancelled", reason: "It was canceled." } }],
    readTaskEvents: async () => [],
    listChildrenSpent: async () => [],
    async meterIfRunning() {},
    async finishTaskIfRunning(_, finish) {
      finishes.push(finish);
      return null;
    },
    // The summary contains what the task itself has spent. Its budget has also counted its children.
    findStoredTask: vi.fn(async () => ({ summary: { usage: null, costUsd: 1, costSource: "priced", attempts: [] } }) as never),
  };
  const approvals: Pick<Approvals, "adopt"> = { adopt() {} };
  const trees = createTreeEnds({ store: store as Store, repositories: null, ownNode: "", logger: pino({ level: "silent" }) });
  const interrupted = createInterruptedTasks({
    store: store as Store,
    approvals: approvals as Approvals,
    recordEnd: async () => {},
    trees,
  });
  await interrupted.endOwnTasks();

  const counted = { micros: 5_000_000, tokens: 0 };
  const none = { micros: 0, tokens: 0 };
  const period = { ...toEmptyPeriod({ name: "day", startsAt: 1, endsAt: 2 }), spent: counted };
  const run = { startsAt: 1, lastStartsAt: 1, reserved: none, settled: counted, earlier: none };
  const held: Reservation = { name: "day", ask: { micros: 1, tokens: null }, ...run };
  expect(finishes.map((finish) => [finish.state, settle(period, held, toRunTotal(finish)).period.spent])).toEqual([["cancelled", counted]]);
});
