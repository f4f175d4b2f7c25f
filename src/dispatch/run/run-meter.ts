import type { EventLog } from "../../events/event-log.ts";
import type { Pricing } from "../../pricing/pricing.ts";
import type { Store } from "../../store/store.ts";
import type { Task, TaskIdentity } from "../../task.ts";
import type { Spending } from "./spending.ts";
import { createTaskMeter, type TaskMeter } from "./task-meter.ts";

/** The parts that price and store what a run spends. */
export interface MeterParts {
  store: Store;
  eventLog: EventLog;
  pricing: Pricing;
  /** The company whose models an adapter uses by default; undefined if there is none. */
  vendorOf(provider: string): string | undefined;
  /** Called after each change of what a running task has spent so far, with its children. */
  onSpent(task: TaskIdentity, spending: Spending): void;
  /** Resolves when budgets have counted what a run has spent with its children; undefined if nothing waits for it. Never rejects. */
  whenCounted(task: Task): Promise<void> | undefined;
}

/** Creates the meter of a run. It stores what it measures. */
export function createRunMeter(task: Task, parts: MeterParts, onUnexpected: (error: unknown) => void): TaskMeter {
  const { store, eventLog, pricing } = parts;
  return createTaskMeter({
    ...{ pricing, vendor: parts.vendorOf(task.provider), requestedModel: task.request.model },
    async report(report) {
      // Hands earlier events to the store first, so that it writes them in their order.
      void eventLog.flush(task);
      await store.reportUsageIfRunning(task, report).catch(onUnexpected);
    },
    onChange: (spending) => parts.onSpent(task, spending),
  });
}
