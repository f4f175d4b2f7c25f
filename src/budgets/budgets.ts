import type { Logger } from "pino";
import { BridgeError } from "../errors.ts";
import type { BudgetAsk, BudgetCounts, BudgetLimit, BudgetStore, BudgetUse, LimitsAt } from "../store/budgets/interface.ts";
import { largestAsk } from "../store/budgets/rows.ts";
import { type DispatchBudget, MICROS_PER_USD } from "../task.ts";
import { startWallClockTimer } from "../timers/wall-clock-timer.ts";
import { type Budget, matchesScope, type SpendingTask } from "./budget.ts";
import { openBudgetsFile } from "./budgets-file.ts";
import { createEstimates } from "./estimates.ts";
import { createLimits } from "./periods.ts";

/** Options of `createBudgets`. */
export interface BudgetsOptions {
  store: BudgetStore;
  logger: Logger;
  /** Null without budgets. */
  file: string | null;
  /** What a task reserves if nothing is known about it, in US dollars. */
  reserveUsd: number;
  /** Called after a person has corrected what is spent of a budget of the tenant. */
  onAdjusted?(adjusted: { tenant: string; budget: string; spentUsd: number; by: string; reason: string }): void;
  pollMs?: number;
}

/** A budget with its counts in the current period. Without a period, it limits each task alone. */
export interface CountedBudget {
  budget: Budget;
  limit: BudgetLimit | null;
  counts: BudgetCounts | null;
}

/** A budget whose maximum is spent, with the end of the period in ms since the epoch. */
export interface ExhaustedBudget {
  budget: Budget;
  endsAt: number;
}

export type Budgets = ReturnType<typeof createBudgets>;

/** Counts of budgets are read at most this often for readers of tasks. */
const COUNTS_AGE_MS = 250;

/** Creates the budgets of the operator: which tasks they limit, by how much, and how much is spent. Throws ConfigError. */
export function createBudgets({ store, logger, file, reserveUsd, onAdjusted = () => {}, pollMs = 1000 }: BudgetsOptions) {
  let listeners: Pick<BudgetUse, "onReached" | "onRoom"> = { onReached() {}, onRoom() {} };
  const opened = file === null ? null : openBudgetsFile({ file, logger, pollMs, onReloaded: onNewLimits });
  const budgets = (): readonly Budget[] => opened?.budgets() ?? none;
  const limitsAt = createLimits(budgets);
  const counts = createCounts(store, limitsAt);
  let timer = startPeriodTimer();
  store.useBudgets({ limitsAt, onRoom, onReached: (task, name) => listeners.onReached(task, name) });

  function onNewLimits(): void {
    timer.cancel();
    timer = startPeriodTimer();
    onRoom();
  }

  function onRoom(): void {
    counts.forget();
    listeners.onRoom();
  }

  /** In the next period, tasks that wait may start. */
  function startPeriodTimer(): { cancel(): void } {
    const ends = limitsAt(Date.now()).map(({ endsAt }) => endsAt);
    if (ends.length === 0) return { cancel() {} };
    return startWallClockTimer(Math.min(...ends), Date.now, onNewLimits);
  }

  const listMatching = (task: SpendingTask): Budget[] => budgets().filter(({ scope }) => matchesScope(scope, task));

  return {
    /** Whether the file contains a budget. */
    exist: (): boolean => budgets().length > 0,
    /** Whether a budget depends on the model of a task. */
    dependOnModel: (): boolean => budgets().some(({ scope }) => scope.model !== undefined),
    limitsAt,
    listMatching,
    ...createAsks({ store, reserveUsd, listMatching }),
    /** The budgets with spent maxima, of those that apply to the task. */
    async listExhausted(task: SpendingTask): Promise<ExhaustedBudget[]> {
      const matching = listMatching(task);
      if (matching.length === 0) return [];
      const read = await counts.read();
      return matching.flatMap((budget) => {
        const counted = read.get(budget.name);
        return counted !== undefined && isReached(counted) ? [{ budget, endsAt: counted.limit.endsAt }] : [];
      });
    },
    /** The names of the budgets that have no room for what a queued task needs. */
    async listHolding(asks: readonly BudgetAsk[]): Promise<string[]> {
      if (asks.length === 0) return [];
      const read = await counts.read();
      return asks.filter((ask) => isHeld(ask, read.get(ask.name))).map(({ name }) => name);
    },
    /** Whether any budget has `per: "task"`. */
    hasTaskLimits: (): boolean => budgets().some(({ per }) => per === "task"),
    /** The budgets that limit a task alone, of those that applied to it when it was dispatched. */
    async listTaskLimits(taskSeq: number): Promise<Budget[]> {
      const names = await store.listTaskBudgets(taskSeq);
      return budgets().filter(({ name, per }) => per === "task" && names.includes(name));
    },
    ...createBudgetList({ store, logger, onAdjusted, budgets, limitsAt }),
    /** The counts of all budgets with a period, for metrics. */
    listAll: async (): Promise<Counted[]> => [...(await counts.read()).values()],
    /**
     * `onReached` is called with a running task that has used more than it has reserved of a budget without room. `onRoom` is called when
     * tasks that wait for a budget may be able to start.
     */
    listen(given: Pick<BudgetUse, "onReached" | "onRoom">): void {
      listeners = given;
    },
    /** Call it when another node has changed the counts of budgets. */
    onForeignRoom: onRoom,
    /** Names the setting if the newest version of the file has faults, without data of the file. */
    listWarnings(): string[] {
      const { length } = opened?.faults() ?? [];
      return length === 0 ? [] : [`BRIDGE_BUDGETS_FILE: ${length} fault(s), previous budgets stay in force`];
    },
    /** Describes all budgets, for a comparison. */
    describe: (): readonly Budget[] => budgets(),
    close(): void {
      timer.cancel();
      opened?.close();
    },
  };
}

/** Creates the function that decides what tasks ask of budgets. */
function createAsks({ store, reserveUsd, listMatching }: AskParts) {
  const estimate = createEstimates(store, Math.round(reserveUsd * MICROS_PER_USD));
  return {
    /**
     * What a task asks of the budgets that apply to it, except for those that its parent has: its own maximum, or an estimate, and never
     * more than the maximum of the budget. Undefined if none applies.
     */
    async listAsks(
      task: SpendingTask,
      { own, except = [] }: { own?: DispatchBudget | undefined; except?: readonly string[] },
    ): Promise<BudgetAsk[] | undefined> {
      const matching = listMatching(task).filter(({ name }) => !except.includes(name));
      if (matching.length === 0) return undefined;
      const bounds = matching.filter(({ per }) => per === "task");
      const expected = await estimate(task);
      const ownMicros = own?.maxCostUsd === undefined ? null : Math.round(own.maxCostUsd * MICROS_PER_USD);
      const wanted = {
        micros: smallest([ownMicros ?? expected.micros, ...bounds.map(({ maxMicros }) => maxMicros)]),
        tokens: smallest([own?.maxTokens ?? expected.tokens, ...bounds.map(({ maxTokens }) => maxTokens)]),
      };
      return matching.map(({ name, per, maxMicros, maxTokens }) => ({
        name,
        askMicros: per === "task" || maxMicros === null ? null : Math.max(1, Math.min(wanted.micros, maxMicros)),
        askTokens: per === "task" || maxTokens === null ? null : Math.max(1, Math.min(wanted.tokens, maxTokens)),
      }));
    },
  };
}

interface AskParts extends Pick<BudgetsOptions, "store" | "reserveUsd"> {
  listMatching(task: SpendingTask): Budget[];
}

/** Creates the functions that list and adjust budgets for clients. */
function createBudgetList({ store, logger, onAdjusted, budgets, limitsAt }: ListParts) {
  return {
    /** The budgets of a tenant, in the order of the file. Those of all tenants belong to the default tenant. */
    async list(tenant: string): Promise<CountedBudget[]> {
      const limits = new Map(limitsAt(Date.now()).map((limit) => [limit.name, limit]));
      const own = budgets().filter((budget) => isVisible(budget, tenant));
      const counted = own.flatMap(({ name }) => limits.get(name) ?? []);
      const read = new Map((await store.readBudgets(counted, { countsWaiting: true })).map((count) => [count.name, count]));
      return own.map((budget) => ({ budget, limit: limits.get(budget.name) ?? null, counts: read.get(budget.name) ?? null }));
    },
    /** Replaces what is spent in the current period. Throws BridgeError: not_found, invalid_state. */
    async adjust(
      tenant: string,
      name: string,
      { spentUsd, by, reason }: { spentUsd: number; by: string; reason: string },
    ): Promise<CountedBudget> {
      const budget = budgets().find((one) => one.name === name && isVisible(one, tenant));
      if (budget === undefined) throw new BridgeError("not_found", "There is no such budget.");
      const limit = limitsAt(Date.now()).find((one) => one.name === name);
      if (limit === undefined)
        throw new BridgeError("invalid_state", "The budget limits each task alone, so it has no spending to adjust.");
      await store.adjustBudget(limit, { spentMicros: Math.round(spentUsd * MICROS_PER_USD), by, reason });
      logger.info({ budget: name, tenant, spentUsd, by, reason }, "budget adjusted");
      onAdjusted({ tenant, budget: name, spentUsd, by, reason });
      const [adjusted = null] = await store.readBudgets([limit], { countsWaiting: true });
      return { budget, limit, counts: adjusted };
    },
  };
}

interface ListParts extends Pick<Required<BudgetsOptions>, "store" | "logger" | "onAdjusted"> {
  budgets(): readonly Budget[];
  limitsAt: LimitsAt;
}

/** Budgets that limit all tenants belong to the default tenant. */
const isVisible = ({ scope }: Budget, tenant: string): boolean => (scope.tenant ?? "default") === tenant;

const none: readonly Budget[] = [];

const smallest = (amounts: readonly (number | null)[]): number => Math.min(...amounts.map((amount) => amount ?? Number.POSITIVE_INFINITY));

interface Counted {
  limit: BudgetLimit;
  counts: BudgetCounts;
}

/** Creates the function that reads the counts of all budgets, and reads them again after a short time. */
function createCounts(store: Pick<BudgetStore, "readBudgets">, limitsAt: (now: number) => readonly BudgetLimit[]) {
  let latest: { of: readonly BudgetLimit[]; at: number; counts: Promise<Map<string, Counted>> } | null = null;

  async function read(limits: readonly BudgetLimit[]): Promise<Map<string, Counted>> {
    const counts = await store.readBudgets(limits);
    return new Map(limits.map((limit, index) => [limit.name, { limit, counts: counts[index] as BudgetCounts }]));
  }

  function forget(): void {
    latest = null;
  }

  return {
    read(): Promise<Map<string, Counted>> {
      const of = limitsAt(Date.now());
      const now = performance.now();
      if (latest !== null && latest.of === of && now - latest.at < COUNTS_AGE_MS) return latest.counts;
      const counts = read(of);
      latest = { of, at: now, counts };
      counts.catch(forget);
      return counts;
    },
    forget,
  };
}

/** Whether what is spent has reached a maximum. */
const isReached = ({ counts: { spentMicros, spentTokens }, limit: { maxMicros, maxTokens } }: Counted): boolean =>
  (maxMicros !== null && spentMicros >= maxMicros) || (maxTokens !== null && spentTokens >= maxTokens);

function isHeld({ askMicros, askTokens }: BudgetAsk, counted: Counted | undefined): boolean {
  if (counted === undefined) return false;
  const { spentMicros, spentTokens, reservedMicros, reservedTokens } = counted.counts;
  const used = { spent: { micros: spentMicros, tokens: spentTokens }, reserved: { micros: reservedMicros, tokens: reservedTokens } };
  const { micros, tokens } = largestAsk(used, counted.limit);
  return (askMicros !== null && micros !== null && askMicros > micros) || (askTokens !== null && tokens !== null && askTokens > tokens);
}
