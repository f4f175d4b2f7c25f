import { adapterEventData, type ExecutionResult, type UsageReport } from "#contract";
import type { UsageReport as StoredReport } from "../../store/tasks/interface.ts";
import { UNBILLED_CODES } from "../../store/usage/rows.ts";
import type { Spent } from "../../task.ts";
import { addSpent, nothingSpent, withSpent } from "./spent.ts";
import { createUsageEvents } from "./usage-events.ts";
import { createUsagePrices, type UsagePricesOptions } from "./usage-prices.ts";

/** The parts of a meter. */
export interface TaskMeterOptions extends UsagePricesOptions {
  /** Stores an event and what the task has spent. Never rejects. */
  report(report: StoredReport): Promise<void>;
  /** Called after each change of the total, with the new total. */
  onChange(total: Spent): void;
}

export type TaskMeter = ReturnType<typeof createTaskMeter>;

/**
 * Creates the meter of one run: prices what its adapter reports, adds it up, and stores the sum while the task runs. Reports with `call`
 * contain every call of the model, so the others do not count once there is one.
 */
export function createTaskMeter({ report, onChange, ...options }: TaskMeterOptions) {
  const measured: Measured = { calls: null, steps: null, arePartial: { calls: false, steps: false } };
  /** What earlier runs of the task have spent; null if this is the first one. */
  let earlier: Spent | null = null;
  /** By the number of the child task. */
  const children = new Map<number, Spent>();
  let isClosed = false;
  /** The final total. */
  let ended: Spent | null = null;
  /** What this run has spent by its result. */
  let own: Spent = nothingSpent;
  /** Whether the completed run, or an earlier one, has used a model. */
  let hasSpent = false;

  const known = (): Spent[] => listKnown(earlier, measured.calls ?? measured.steps);
  const total = (): Spent => ended ?? addSpent([...known(), ...children.values()]);
  const prices = createUsagePrices(options);
  const events = createUsageEvents({ total: () => addSpent(known()), report });

  function count({ model, call, partial }: UsageReport, spent: Spent): void {
    const kind = call === undefined ? "steps" : "calls";
    measured.arePartial[kind] ||= partial === true;
    if (kind === "steps" && (measured.calls !== null || (spent.usage === null && spent.costUsd === null))) return;
    measured[kind] = addSpent(listKnown(measured[kind], spent));
    events.add({ model: model ?? null, spent, call });
    onChange(total());
  }

  return {
    /** Adds what an adapter reports. Returns false if that is not valid, or comes after the end of the runtime. */
    add(reported: UsageReport): boolean {
      const { success, data } = adapterEventData["usage.reported"].safeParse(reported);
      if (!success || isClosed) return false;
      prices.price(data, (spent) => count(data, spent));
      return true;
    },
    /** Sets what earlier runs of the task have spent. Call it before the runtime starts. */
    setEarlier(spent: Spent | null): void {
      earlier = spent;
    },
    /** Sets what a child task has spent until now, with its own children. */
    setChild(seq: number, spent: Spent): void {
      children.set(seq, spent);
      onChange(total());
    },
    /** What the task has spent so far, with its children. */
    total,
    /** What the completed run has spent, without earlier runs. */
    own: (): Spent => own,
    /** What the next run has to add to its own spending; null if no model was used. */
    passOn: (): Spent | null => (hasSpent ? total() : null),
    /** Hands the last event to the store. Later reports are ignored. */
    async close(): Promise<void> {
      await prices.settled();
      isClosed = true;
      events.close();
    },
    /**
     * Completes the result of the run: its usage, its cost and the source of its cost, with those of earlier runs. Call `close` first. The
     * result of a task with children contains what they have spent, which has several prices. A run with `hasAnswered` false, which failed
     * before the model has answered, and whose usage is unknown, has spent nothing.
     */
    async complete(result: ExecutionResult, { hasChildren, hasAnswered = true }: CompletedRun): Promise<ExecutionResult> {
      const decided = decideSpent(result, measured);
      const { usage, costUsd } = decided;
      const isUnpriced = usage !== null && costUsd === null && measured.calls === null && !hasChildren;
      const spent = isUnpriced ? await prices.priceSum(usage, result.model) : decided;
      const isFree = spent.usage === null && spent.costUsd === null && (!hasAnswered || UNBILLED_CODES.has(result.errorCode));
      if (!isFree) own = spent;
      const parts = listKnown(earlier, isFree ? null : spent);
      hasSpent = parts.length > 0;
      ended = addSpent(parts);
      onChange(ended);
      return withSpent(result, ended);
    },
  };
}

const listKnown = (...parts: (Spent | null)[]): Spent[] => parts.filter((part) => part !== null);

/** What is known about a run that has ended. */
interface CompletedRun {
  hasChildren: boolean;
  hasAnswered?: boolean;
}

/** What the reports of a run add up to. */
interface Measured {
  /** The sum of the reports with `call`; null if there is none. */
  calls: Spent | null;
  /** The sum of the other reports; null if there is none. */
  steps: Spent | null;
  /** Whether models were used without a report of it. */
  arePartial: { calls: boolean; steps: boolean };
}

/** Decides what a run has spent, by its result and by its reports. A cost that is null here may have a price. */
function decideSpent(result: ExecutionResult, { calls, steps, arePartial }: Measured): Spent {
  const { usage = null, costUsd = null, costSource = "runtime" } = result;
  const reported: Spent = { usage, costUsd, costSource: costUsd === null ? null : costSource };
  // The reports contain each call. Without its price, the figure of the runtime is the best one.
  if (calls !== null && !arePartial.calls) return calls.costUsd === null ? { ...reported, usage: calls.usage } : calls;
  if (steps === null || arePartial.steps) return reported;
  const isAll = usage === null || (steps.usage?.inputTokens === usage.inputTokens && steps.usage.outputTokens === usage.outputTokens);
  const cost = costUsd === null && isAll ? steps : reported;
  return { ...cost, usage: usage ?? steps.usage };
}
