import type { Logger } from "pino";
import type { SpendingAnswer } from "#contract";
import type { Approvals } from "../../approvals/approvals.ts";
import type { Budgets } from "../../budgets/budgets.ts";
import type { Metrics } from "../../metrics.ts";
import type { Store } from "../../store/store.ts";
import { type DispatchBudget, MICROS_PER_USD, type Spent, type Task, type TaskIdentity } from "../../task.ts";
import { createBudgetApproval } from "./budget-approval.ts";
import type { Run } from "./run-task.ts";
import type { RunningTasks } from "./running-tasks.ts";
import type { Spending } from "./spending.ts";
import { createSpendingGuard, type SpendingCap, type SpendingGuard } from "./spending-guard.ts";
import { isSameSpent } from "./spent.ts";

interface SpendingGuardsOptions {
  store: Pick<Store, "meterIfRunning" | "readRaises">;
  approvals: Pick<Approvals, "ask">;
  budgets: Pick<Budgets, "exist" | "hasTaskLimits" | "listTaskLimits">;
  running: Pick<RunningTasks, "find" | "listWithAncestors" | "pauseClocks" | "onSpent">;
  metrics: Pick<Metrics, "budgetStops">;
  logger: Pick<Logger, "error">;
}

export type SpendingGuards = ReturnType<typeof createSpendingGuards>;

const ALLOWED: SpendingAnswer = { allowed: true };

/** Creates the guards of all running tasks that a budget limits. Other tasks have none. */
export function createSpendingGuards({ store, approvals, budgets, running, metrics, logger }: SpendingGuardsOptions) {
  const onFault = (err: unknown, { taskId, tenant }: TaskIdentity): void =>
    logger.error({ err, taskId, tenant }, "failed to count the spending of a task in its budgets");

  /** By task number. */
  const guards = new Map<number, { run: Run; guard: SpendingGuard; meter: FamilyMeter }>();
  const meters = new WeakMap<Task, FamilyMeter>();
  /** The waits of tasks for each decision. */
  const waits = new WeakMap<Promise<SpendingAnswer>, Map<Run, Promise<SpendingAnswer>>>();

  /** Call it with each run as soon as it is registered. */
  function onStarted(run: Run): void {
    const { task } = run;
    const { budget } = task.request;
    if (budget === undefined && !budgets.exist()) return;
    const guard = createSpendingGuard({
      ...{ own: budget === undefined ? null : toCap(budget), stopsAtNextCall: () => run.stopsAtNextCall },
      approval:
        budget?.onReached === "ask" ? createBudgetApproval(run, { store, approvals, onFault: (error) => onFault(error, task) }) : null,
      stop(reason) {
        if (run.stop("budget_exceeded", reason)) metrics.budgetStops.inc({ provider: run.provider });
      },
    });
    const meter = createFamilyMeter(task);
    meters.set(task, meter);
    guards.set(task.seq, { run, guard, meter });
    // A task that is queued again can run again before the runtime of its last run has ended.
    void run.runtimeEnded.then(() => guards.get(task.seq)?.run === run && guards.delete(task.seq));
    if (budgets.hasTaskLimits()) budgets.listTaskLimits(task.seq).then(guard.addCaps, (error: unknown) => onFault(error, task));
  }

  /** Counts in budgets what a task has spent with its children. The store counts its own spending by its reports if all of it is known. */
  function createFamilyMeter(task: Task): FamilyMeter {
    let writing: Promise<void> | undefined;
    let next: Spent | null = null;
    async function write(): Promise<void> {
      try {
        for (let spent = next; spent !== null; spent = next) {
          next = null;
          await store.meterIfRunning(task, spent);
        }
      } catch (error) {
        onFault(error, task);
      } finally {
        writing = undefined;
      }
    }
    return {
      count(spent) {
        next = spent;
        writing ??= write();
      },
      whenCounted: () => writing,
    };
  }

  /** All calls of a task that wait for the same decision share one pause, because a program can repeat a held call many times. */
  function waitForDecision(answer: Promise<SpendingAnswer>, run: Run): Promise<SpendingAnswer> {
    const byRun = waits.get(answer) ?? new Map<Run, Promise<SpendingAnswer>>();
    waits.set(answer, byRun);
    const wait = byRun.get(run) ?? answer.finally(running.pauseClocks(run));
    byRun.set(run, wait);
    return wait;
  }

  return {
    onStarted,
    /** Call it after each change of what a running task has spent, with its children. */
    onSpent(task: TaskIdentity, spending: Spending): void {
      running.onSpent(task, spending);
      const guarded = guards.get(task.seq);
      if (guarded === undefined) return;
      const { shown, counted } = spending;
      if (guarded.run.hasChildren || (shown !== null && !isSameSpent(shown, counted))) guarded.meter.count(counted);
      guarded.guard.onSpent(spending);
    },
    /** Resolves when budgets have counted what a run has spent with its children; undefined if nothing waits for it. Never rejects. */
    whenCounted: (task: Task): Promise<void> | undefined => meters.get(task)?.whenCounted(),
    /** Call it when a budget has no room for what a running task spends. */
    onBudgetReached: (task: TaskIdentity, budget: string): void => guards.get(task.seq)?.guard.onBudgetReached(budget),
    /** Whether a task may call its model, by its own budgets and those of its ancestors. Can wait for a decision. Never rejects. */
    async mayCallModel(provider: string, handle: string): Promise<SpendingAnswer> {
      const caller = running.find(handle);
      if (caller?.provider !== provider) return ALLOWED;
      const limits = running.listWithAncestors(caller).flatMap(({ task }) => guards.get(task.seq)?.guard ?? []);
      if (limits.length > 0) await caller.usagePriced();
      for (const limit of limits) {
        const answer = limit.mayCall();
        const decided = answer instanceof Promise ? await waitForDecision(answer, caller) : answer;
        if (!decided.allowed) return decided;
      }
      return ALLOWED;
    },
  };
}

/** Counts in budgets what one run has spent with its children. */
interface FamilyMeter {
  count(spent: Spent): void;
  /** Resolves when everything is counted; undefined if it is. */
  whenCounted(): Promise<void> | undefined;
}

const toCap = ({ maxCostUsd, maxTokens }: DispatchBudget): SpendingCap => ({
  ...{ name: null, maxTokens: maxTokens ?? null },
  maxMicros: maxCostUsd === undefined ? null : Math.round(maxCostUsd * MICROS_PER_USD),
});
