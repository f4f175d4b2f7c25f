import type { Logger } from "pino";
import type { SpendingAnswer } from "#contract";
import type { Budgets } from "../../budgets/budgets.ts";
import type { Metrics } from "../../metrics.ts";
import type { Store } from "../../store/store.ts";
import { type DispatchBudget, MICROS_PER_USD, type Spent, type TaskIdentity } from "../../task.ts";
import type { Run } from "./run-task.ts";
import type { RunningTasks } from "./running-tasks.ts";
import { createSpendingGuard, type SpendingCap, type SpendingGuard } from "./spending-guard.ts";

interface SpendingGuardsOptions {
  store: Pick<Store, "meterIfRunning">;
  budgets: Budgets;
  running: Pick<RunningTasks, "find" | "findParent" | "onSpent">;
  metrics: Pick<Metrics, "budgetStops">;
  logger: Pick<Logger, "error">;
}

export type SpendingGuards = ReturnType<typeof createSpendingGuards>;

const ALLOWED: SpendingAnswer = { allowed: true };

/** Creates the guards of all running tasks that a budget limits. Other tasks have none. */
export function createSpendingGuards({ store, budgets, running, metrics, logger }: SpendingGuardsOptions) {
  const onFault = (err: unknown, { taskId, tenant }: TaskIdentity): void =>
    logger.error({ err, taskId, tenant }, "failed to count the spending of a task in its budgets");

  /** By task number. */
  const guards = new Map<number, { run: Run; guard: SpendingGuard; meter(spent: Spent): void }>();

  /** Call it with each run as soon as it is registered. */
  function onStarted(run: Run): void {
    const { task } = run;
    const { budget } = task.request;
    if (budget === undefined && !budgets.exist()) return;
    const guard = createSpendingGuard({
      ...{ own: budget === undefined ? null : toCap(budget), holdsCalls: () => run.holdsModelCalls },
      stop(reason) {
        if (run.stop("budget_exceeded", reason)) metrics.budgetStops.inc({ provider: run.provider });
      },
    });
    guards.set(task.seq, { run, guard, meter: createFamilyMeter(task) });
    void run.runtimeEnded.then(() => guards.delete(task.seq));
    budgets.listTaskLimits(task.seq).then(guard.addCaps, (error: unknown) => onFault(error, task));
  }

  /** Counts in budgets what a task has spent with its children. The store learns its own spending from its reports. */
  function createFamilyMeter(task: TaskIdentity & { restarts: number }): (spent: Spent) => void {
    let isWriting = false;
    let next: Spent | null = null;
    async function write(): Promise<void> {
      isWriting = true;
      try {
        for (let spent = next; spent !== null; spent = next) {
          next = null;
          await store.meterIfRunning(task, spent);
        }
      } catch (error) {
        onFault(error, task);
      } finally {
        isWriting = false;
      }
    }
    return (spent) => {
      next = spent;
      if (!isWriting) void write();
    };
  }

  return {
    onStarted,
    /** Call it after each change of what a running task has spent, with its children. */
    onSpent(task: TaskIdentity, spent: Spent): void {
      running.onSpent(task, spent);
      const guarded = guards.get(task.seq);
      if (guarded === undefined) return;
      if (guarded.run.hasChildren) guarded.meter(spent);
      guarded.guard.onSpent(spent);
    },
    /** Call it when a budget has no room for what a running task spends. */
    onBudgetReached: (task: TaskIdentity, budget: string): void => guards.get(task.seq)?.guard.onBudgetReached(budget),
    /** Whether a task may call its model, by its own budgets and those of its ancestors. Never rejects. */
    async mayCallModel(provider: string, handle: string): Promise<SpendingAnswer> {
      let run = running.find(handle);
      if (run?.provider !== provider) return ALLOWED;
      for (; run !== undefined; run = running.findParent(run.task)) {
        const answer = guards.get(run.task.seq)?.guard.mayCall() ?? ALLOWED;
        if (!answer.allowed) return answer;
      }
      return ALLOWED;
    },
  };
}

const toCap = ({ maxCostUsd, maxTokens }: DispatchBudget): SpendingCap => ({
  ...{ name: null, maxTokens: maxTokens ?? null },
  maxMicros: maxCostUsd === undefined ? null : Math.round(maxCostUsd * MICROS_PER_USD),
});
