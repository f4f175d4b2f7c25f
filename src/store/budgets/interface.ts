import type { Spent, TaskIdentity, TaskRun } from "../../task.ts";

/** The reservations and the spending of budgets. */
export interface BudgetStore {
  /** Sets the budgets that limit starts from now on, and who learns of changes. Without a call, there are none. */
  useBudgets(use: BudgetUse): void;
  /**
   * The counts of the given budgets in the given periods, in the order of the limits. Waiting tasks are counted only on request, because
   * that reads all of them.
   */
  readBudgets(limits: readonly BudgetLimit[], options?: { countsWaiting: boolean }): Promise<BudgetCounts[]>;
  /** Replaces what is spent in the period, and stores who did it and why. */
  adjustBudget(limit: BudgetLimit, adjustment: BudgetAdjustment): Promise<BudgetCounts>;
  /** What the newest ended tasks have spent, at most `limit` of them. Examines a limited number of tasks. */
  readRecentSpending(key: SpendingKey, limit: number): Promise<Spending[]>;
  /** Counts in its budgets what a running task has spent so far, with its children. */
  meterIfRunning(task: TaskRun, spent: Spent): Promise<void>;
  /** Names of the budgets that apply to a task that has not ended. */
  listTaskBudgets(taskSeq: number): Promise<string[]>;
}

/** What a task asks of a budget that applies to it. Null: the budget has no such maximum. */
export interface BudgetAsk {
  name: string;
  askMicros: number | null;
  askTokens: number | null;
}

/** The maxima of a budget in one period. Amounts are millionths of a US dollar, and tokens; null: no maximum. */
export interface BudgetLimit {
  name: string;
  startsAt: number;
  endsAt: number;
  maxMicros: number | null;
  maxTokens: number | null;
  /** Shares of the maximum, ascending. */
  warnAt: readonly number[];
  /** The only tenant and the only provider to whose tasks the budget applies; null: any. */
  tenant: string | null;
  provider: string | null;
}

/** Returns all budgets in the periods that contain a time, by the clock of the store. */
export type LimitsAt = (now: number) => readonly BudgetLimit[];

/** The budgets of a store, and who learns of changes. */
export interface BudgetUse {
  limitsAt: LimitsAt;
  /** Called after a report of a running task for which it has no reservation, while the budget has no room left. */
  onReached(task: TaskIdentity, budget: string): void;
  /** Called after a task has returned a reservation, or a budget was adjusted. */
  onRoom(): void;
}

/** What is stored of a budget. Amounts are millionths of a US dollar, and tokens. */
export interface BudgetCounts {
  name: string;
  startsAt: number;
  /** Includes what is estimated. */
  spentMicros: number;
  spentTokens: number;
  reservedMicros: number;
  reservedTokens: number;
  estimatedMicros: number;
  /** Queued tasks for which the budget has no room; 0 if they were not counted. */
  waitingTasks: number;
}

/** A correction by a person. */
export interface BudgetAdjustment {
  spentMicros: number;
  by: string;
  reason: string;
}

/** The tasks whose spending an estimate uses; a null model: any. */
export interface SpendingKey {
  tenant: string;
  agentId: string;
  provider: string;
  model: string | null;
}

/** What a task has spent; null: unknown. */
export interface Spending {
  micros: number | null;
  tokens: number | null;
}
