import type { ModelCall, NormalizedUsage, PricedCall } from "#contract";
import { encodeEventData } from "../../events/encode-event-data.ts";
import type { UsageReport } from "../../store/tasks/interface.ts";
import type { Spent } from "../../task.ts";
import { addSpent } from "./spent.ts";

/** What an adapter has reported, with its price. */
export interface PricedReport {
  model: string | null;
  spent: Spent;
  call: ModelCall | undefined;
}

interface UsageEventsOptions {
  /** What the task has spent so far. */
  total(): Spent;
  /** Stores an event and the total. Never rejects. */
  report(report: UsageReport): Promise<void>;
}

/** Minimum time between two events of one task. */
const INTERVAL_MS = 1000;
/** Calls of an event. With more of them, the event is written early. */
const MAX_CALLS = 20;
const NO_TOKENS: NormalizedUsage = { inputTokens: 0, outputTokens: 0 };

/** Creates the writer of the events `usage.reported` of one run. It combines the reports of a second. */
export function createUsageEvents({ total, report }: UsageEventsOptions) {
  let waiting: PricedReport[] = [];
  /** The calls in `waiting`. */
  let calls = 0;
  let timer: NodeJS.Timeout | undefined;
  let isWriting = false;

  function writeIfDue(): void {
    if (waiting.length > 0 && timer === undefined && !isWriting) write();
  }

  function write(): void {
    if (waiting.length === 0) return;
    const event = toEvent(waiting, total());
    [waiting, calls] = [[], 0];
    isWriting = true;
    void report(event).then(() => {
      isWriting = false;
      writeIfDue();
    });
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      writeIfDue();
    }, INTERVAL_MS);
  }

  return {
    add(reported: PricedReport): void {
      const last = waiting.at(-1);
      // Reports without a call are combined at once, because a program may print many of them.
      if (last === undefined || reported.call !== undefined || last.call !== undefined) waiting.push(reported);
      else waiting[waiting.length - 1] = combine(last, reported);
      if (reported.call !== undefined) calls += 1;
      if (calls >= MAX_CALLS) write();
      else writeIfDue();
    },
    /** Writes what waits. */
    close(): void {
      write();
      clearTimeout(timer);
    },
  };
}

/** `model` is null if the reports name different models. */
const combine = (a: PricedReport, b: PricedReport): PricedReport => ({
  ...a,
  model: a.model === b.model ? a.model : null,
  spent: addSpent([a.spent, b.spent]),
});

function toEvent(reports: readonly PricedReport[], total: Spent): UsageReport {
  const { model, spent } = reports.reduce(combine);
  const calls = reports.flatMap((report): PricedCall[] =>
    report.call === undefined ? [] : [{ model: report.model, usage: report.spent.usage, costUsd: report.spent.costUsd, ...report.call }],
  );
  const { usage, costUsd, costSource } = spent;
  const data = { model, usage: usage ?? NO_TOKENS, costUsd, costSource, total, ...(calls.length > 0 && { calls }) };
  return { spent: total, event: { type: "usage.reported", data: encodeEventData(data) } };
}
