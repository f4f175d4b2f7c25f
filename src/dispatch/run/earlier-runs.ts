import type { Attempt, ExecutionResult } from "#contract";
import type { Store } from "../../store/store.ts";
import type { Spent, Task } from "../../task.ts";
import { mayWait } from "./limit-wait.ts";
import { addSpending, noSpending, type Spending, toSpending } from "./spending.ts";
import { withSpent } from "./spent.ts";
import type { EarlierSpending } from "./task-meter.ts";

type Reads = Pick<Store, "findStoredTask" | "listChildrenSpent">;
type StoredIdentity = Pick<Task, "tenant" | "taskId" | "seq">;

/** Whether the task may have had a run before this one. */
export const mayHaveRunBefore = (task: Task): boolean => task.restarts > 0 || mayWait(task);

/** What the earlier runs of a task have stored. */
interface EarlierRuns extends EarlierSpending {
  attempts: readonly Attempt[];
  hasChildren: boolean;
}

/** Reads the stored attempts of the earlier runs of a task, and the known spending of these runs and their children. */
export async function readEarlierRuns(store: Reads, { tenant, taskId, seq }: StoredIdentity): Promise<EarlierRuns> {
  const summary = (await store.findStoredTask(tenant, taskId))?.summary;
  const children = await store.listChildrenSpent(seq);
  const own = toStored(summary === undefined ? [] : [summary]);
  // The usage of a completed child is unknown if none is stored. A failed one may have called no model.
  const total = addSpending([own, toStored(children, ({ state }) => state === "completed")]);
  return {
    ...{ own: () => own, total: () => total, setChildIfKnown: () => false },
    ...{ attempts: summary?.attempts ?? [], hasChildren: children.length > 0 },
  };
}

/** Adds to the result of a task that ends without a run what its earlier runs have stored. */
export const withEarlierRuns = (result: ExecutionResult, { total, attempts }: EarlierRuns): ExecutionResult => ({
  ...withSpent(result, total().known),
  ...(attempts.length > 0 && { attempts: [...attempts] }),
});

/** Adds up stored spending. Skips runs that stored none, because they may have called no model, unless `hasCalledModel` returns true. */
function toStored<Part extends Spent>(parts: readonly Part[], hasCalledModel: (part: Part) => boolean = () => false): Spending {
  const counted = parts.filter((part) => part.usage !== null || part.costUsd !== null || hasCalledModel(part));
  return counted.length === 0 ? noSpending : addSpending(counted.map((spent) => toSpending(spent)));
}
