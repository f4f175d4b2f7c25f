import type { SpendingAnswer } from "#contract";
import { toAmounts } from "../../store/budgets/rows.ts";
import { MICROS_PER_USD, type Spent } from "../../task.ts";

/** A maximum of one task with its children, in millionths of a US dollar, and tokens; null: no maximum. */
export interface SpendingCap {
  /** The budget of the operator; null: the budget of the dispatch. */
  name: string | null;
  maxMicros: number | null;
  maxTokens: number | null;
}

interface SpendingGuardOptions {
  /** The budget of the dispatch; null without one. */
  own: SpendingCap | null;
  /** Whether Bridge is asked before each call of the model, and can refuse it. Otherwise only a stop of the task ends its spending. */
  holdsCalls(): boolean;
  /** Stops the task. */
  stop(reason: string): void;
}

export type SpendingGuard = ReturnType<typeof createSpendingGuard>;

const ALLOWED: SpendingAnswer = { allowed: true };

/**
 * Creates the guard of what one task spends. A task whose calls Bridge can refuse is stopped at its next call, so that it keeps the answer
 * of the last one; any other task is stopped as soon as a report reaches a maximum.
 */
export function createSpendingGuard({ own, holdsCalls, stop }: SpendingGuardOptions) {
  let caps: SpendingCap[] = own === null ? [] : [own];
  let spent: Spent = { usage: null, costUsd: null, costSource: null };
  /** Why the task must not spend more, by a budget that it shares with other tasks; null if it may. */
  let exhausted: string | null = null;

  function findReached(): SpendingCap | undefined {
    const { micros, tokens } = toAmounts(spent);
    return caps.find(
      ({ maxMicros, maxTokens }) =>
        (maxMicros !== null && micros !== null && micros >= maxMicros) || (maxTokens !== null && tokens !== null && tokens >= maxTokens),
    );
  }

  /** The reason for a stop; null if the task may spend more. */
  function findReason(): string | null {
    const reached = findReached();
    return reached === undefined ? exhausted : describeReached(reached, spent);
  }

  function stopIfReached(): void {
    const reason = holdsCalls() ? null : findReason();
    if (reason !== null) stop(reason);
  }

  return {
    /** Adds maxima of budgets that limit each task alone. */
    addCaps(added: readonly SpendingCap[]): void {
      caps = [...caps, ...added];
      stopIfReached();
    },
    /** Call it with the new total of the task, with its children. */
    onSpent(total: Spent): void {
      spent = total;
      stopIfReached();
    },
    /** Call it when a budget has no room for what the task spends. */
    onBudgetReached(name: string): void {
      exhausted = `The budget ${name} has no room for what the task spends.`;
      stopIfReached();
    },
    /** Whether the task may call its model. If not, it is stopped. */
    mayCall(): SpendingAnswer {
      const reason = findReason();
      if (reason === null) return ALLOWED;
      stop(reason);
      return { allowed: false, reason };
    },
  };
}

function describeReached({ name, maxMicros, maxTokens }: SpendingCap, { costUsd, usage }: Spent): string {
  const subject = name === null ? "its budget" : `the budget ${name}`;
  const isCost = maxMicros !== null && costUsd !== null && costUsd * MICROS_PER_USD >= maxMicros;
  if (isCost) return `The task has spent ${costUsd} US dollars, and ${subject} permits ${maxMicros / MICROS_PER_USD}.`;
  const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens;
  return `The task has used ${tokens} tokens, and ${subject} permits ${maxTokens}.`;
}
