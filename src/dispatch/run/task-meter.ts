import { adapterEventData, type ExecutionResult, type UsageReport } from "#contract";
import type { UsageReport as StoredReport } from "../../store/tasks/interface.ts";
import { UNBILLED_CODES } from "../../store/usage/rows.ts";
import type { Spent } from "../../task.ts";
import { addSpending, endSpending, noSpending, type Spending, toSpending } from "./spending.ts";
import { nothingSpent, withSpent } from "./spent.ts";
import { createUsageEvents } from "./usage-events.ts";
import { createUsagePrices, type UsagePricesOptions } from "./usage-prices.ts";

/** The parts of a meter. */
export interface TaskMeterOptions extends UsagePricesOptions {
  /** Stores an event and what the task has spent. Never rejects. */
  report(report: StoredReport): Promise<void>;
  /** Called after each change, with the total of the task and its children. */
  onChange(total: Spending): void;
}

/** What a task has spent before a run: in earlier runs, or in earlier attempts of the same run. */
export interface EarlierSpending {
  /** Without its children. */
  own(): Spending;
  /** With its children. */
  total(): Spending;
  /** Sets what a child of an earlier attempt has spent until now. Returns false if no earlier attempt had this child. */
  setChildIfKnown(seq: number, spending: Spending): boolean;
}

export type TaskMeter = ReturnType<typeof createTaskMeter>;

/**
 * Creates the meter of one run: prices what its adapter reports, adds it up, and stores the sum while the task runs. Reports with `call`
 * contain every call of the model, so the others do not count once there is one.
 */
export function createTaskMeter({ report, onChange, ...options }: TaskMeterOptions) {
  const measured: Measured = { calls: null, steps: null, arePartial: { calls: false, steps: false } };
  let earlier: EarlierSpending = nothingEarlier;
  /** By the number of the child task. */
  const children = new Map<number, Spending>();
  let isClosed = false;
  /** Spending by the result of this run; null until it ends. `all` includes the children, `own` does not. */
  let ended: { own: Spending; all: Spending } | null = null;
  let completed: Spent = nothingSpent;

  const reported = (): Spending => measured.calls ?? measured.steps ?? noSpending;
  /** What the task itself has spent so far, with earlier runs, and without its children. */
  const own = (): Spending => addSpending([earlier.own(), ended?.own ?? reported()]);
  /** What the task has spent so far, with earlier runs and its children. */
  function total(): Spending {
    const withChildren = addSpending([reported(), ...children.values()]);
    return addSpending([earlier.total(), ended === null ? withChildren : endSpending(withChildren, ended.all)]);
  }
  const change = (): void => onChange(total());
  const prices = createUsagePrices(options);
  /** Created by the first report, because most tasks report only a sum at their end. */
  let events: ReturnType<typeof createUsageEvents> | undefined;

  function setChildIfKnown(seq: number, spending: Spending): boolean {
    if (!children.has(seq)) return earlier.setChildIfKnown(seq, spending);
    children.set(seq, spending);
    return true;
  }

  function count({ model, call, partial }: UsageReport, spent: Spent, atMost: Spent): void {
    const kind = call === undefined ? "steps" : "calls";
    measured.arePartial[kind] ||= partial === true;
    if (kind === "steps" && (measured.calls !== null || (spent.usage === null && spent.costUsd === null))) return;
    measured[kind] = addSpending([measured[kind] ?? noSpending, toSpending(spent, atMost)]);
    events ??= createUsageEvents({ total: () => own().shown ?? nothingSpent, report });
    events.add({ model: model ?? null, spent, call });
    change();
  }

  function end(): undefined {
    isClosed = true;
    events?.close();
  }

  return {
    /** Adds what an adapter reports. Returns false if that is not valid, or comes after the end of the runtime. */
    add(reported: UsageReport): boolean {
      const { success, data } = adapterEventData["usage.reported"].safeParse(reported);
      if (!success || isClosed) return false;
      prices.price(data, (spent, atMost) => count(data, spent, atMost));
      return true;
    },
    /** Sets what the task has spent before: the meter of the last attempt, or what is stored. Call it before the runtime starts. */
    setEarlier(spending: EarlierSpending): void {
      earlier = spending;
      change();
    },
    /** Sets what a child task has spent until now, with its own children. */
    setChild(seq: number, spending: Spending): void {
      if (!setChildIfKnown(seq, spending)) children.set(seq, spending);
      change();
    },
    setChildIfKnown,
    /** Resolves when all reports so far have a price. Undefined if none has waited for it. */
    priced: prices.loading,
    ...{ own, total },
    /** What the completed run has spent, without earlier runs. */
    completedSpent: (): Spent => completed,
    /** Hands the last event to the store, as soon as all reports have a price. Later reports are ignored. */
    close(): Promise<void> | undefined {
      const loading = prices.loading();
      return loading === undefined ? end() : loading.then(end);
    },
    /**
     * Completes the result of the run: its usage, its cost and the source of its cost, with those of earlier runs. Call `close` first. The
     * result of a task with children contains what they have spent, which has several prices. A run with `hasAnswered` false, which failed
     * before the model has answered, and whose usage is unknown, has spent nothing.
     */
    async complete(result: ExecutionResult, { hasAnswered } = { hasAnswered: true }): Promise<ExecutionResult> {
      const hasChildren = children.size > 0;
      const decided = decideSpent(result, measured);
      const { usage, costUsd } = decided;
      const isUnpriced = usage !== null && costUsd === null && measured.calls === null && !hasChildren;
      const spent = isUnpriced ? await prices.priceSum(usage, result.model) : decided;
      const isFree = spent.usage === null && spent.costUsd === null && (!hasAnswered || UNBILLED_CODES.has(result.errorCode));
      const all = isFree ? noSpending : toSpending(spent);
      if (!isFree) completed = spent;
      ended = { own: hasChildren ? reported() : all, all };
      change();
      return withSpent(result, total().shown ?? nothingSpent);
    },
  };
}

const nothingEarlier: EarlierSpending = { own: () => noSpending, total: () => noSpending, setChildIfKnown: () => false };

/** What the reports of a run add up to. */
interface Measured {
  /** The sum of the reports with `call`; null if there is none. */
  calls: Spending | null;
  /** The sum of the other reports; null if there is none. */
  steps: Spending | null;
  /** Whether models were used without a report of it. */
  arePartial: { calls: boolean; steps: boolean };
}

/** Decides what a run has spent, by its result and by its reports. A cost that is null here may have a price. */
function decideSpent(result: ExecutionResult, measured: Measured): Spent {
  const { arePartial } = measured;
  const [calls, steps] = [measured.calls?.shown ?? null, measured.steps?.shown ?? null];
  const { usage = null, costUsd = null, costSource = "runtime" } = result;
  const reported: Spent = { usage, costUsd, costSource: costUsd === null ? null : costSource };
  // The reports contain each call. Without its price, the figure of the runtime is the best one.
  if (calls !== null && !arePartial.calls) return calls.costUsd === null ? { ...reported, usage: calls.usage } : calls;
  if (steps === null || arePartial.steps) return reported;
  const isAll = usage === null || (steps.usage?.inputTokens === usage.inputTokens && steps.usage.outputTokens === usage.outputTokens);
  const cost = costUsd === null && isAll ? steps : reported;
  return { ...cost, usage: usage ?? steps.usage };
}
