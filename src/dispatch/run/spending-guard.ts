import type { SpendingAnswer } from "#contract";
import { toAmounts } from "../../store/budgets/rows.ts";
import type { Spent } from "../../task.ts";

/** A maximum of one task with its children, in millionths of a US dollar, and tokens; null: no maximum. */
export interface SpendingCap {
  /** The budget of the operator; null: the budget of the dispatch. */
  name: string | null;
  maxMicros: number | null;
  maxTokens: number | null;
}

/** What a person decides at the maximum. */
export interface SpendingDecision {
  isApproved: boolean;
  /** By how much the maximum grows, in millionths of a US dollar; null: by the maximum itself. */
  raiseMicros: number | null;
  reason: string | null;
}

interface SpendingGuardOptions {
  /** The budget of the dispatch; null without one. */
  own: SpendingCap | null;
  /** Whether Bridge is asked before each call of the model, and can refuse it. Otherwise only a stop of the task ends its spending. */
  holdsCalls(): boolean;
  /** Stops the task. */
  stop(reason: string): void;
  /** Asks a person for a higher maximum of the dispatch; null: the task stops at its maximum. */
  ask: ((cap: SpendingCap, spent: Spent) => Promise<SpendingDecision>) | null;
}

export type SpendingGuard = ReturnType<typeof createSpendingGuard>;

const isOwn = ({ name }: SpendingCap): boolean => name === null;

const ALLOWED: SpendingAnswer = { allowed: true };
const MICROS_PER_USD = 1e6;

/**
 * Creates the guard of what one task spends. A task whose calls Bridge can refuse is stopped at its next call, so that it keeps the answer
 * of the last one; any other task is stopped as soon as a report reaches a maximum.
 */
export function createSpendingGuard({ own, holdsCalls, stop, ask }: SpendingGuardOptions) {
  let caps: SpendingCap[] = own === null ? [] : [own];
  let spent: Spent = { usage: null, costUsd: null, costSource: null };
  /** Why the task must not spend more, by a budget that it shares with other tasks; null if it may. */
  let exhausted: string | null = null;
  let asking: Promise<SpendingAnswer> | null = null;

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

  function refuse(reason: string): SpendingAnswer {
    stop(reason);
    return { allowed: false, reason };
  }

  async function askForMore(decide: NonNullable<typeof ask>): Promise<SpendingAnswer> {
    for (let cap = findReached(); cap !== undefined && isOwn(cap); cap = findReached()) {
      const raised = cap;
      const { isApproved, raiseMicros, reason } = await decide(cap, spent);
      if (!isApproved) return refuse(reason === null ? describeReached(cap, spent) : `${describeReached(cap, spent)} ${reason}`);
      caps = caps.map((one) => (one === raised ? raise(one, { by: own ?? one, micros: raiseMicros }) : one));
    }
    return decideAlone();
  }

  function decideAlone(): SpendingAnswer {
    const reason = findReason();
    return reason === null ? ALLOWED : refuse(reason);
  }

  async function decideCall(): Promise<SpendingAnswer> {
    const reached = findReached();
    if (reached === undefined || !isOwn(reached) || ask === null) return decideAlone();
    // Several calls at the same time wait for one decision.
    asking ??= askForMore(ask).finally(() => {
      asking = null;
    });
    return asking;
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
    /** Whether the task may call its model. Can wait for a decision. */
    mayCall: decideCall,
  };
}

function describeReached({ name, maxMicros, maxTokens }: SpendingCap, { costUsd, usage }: Spent): string {
  const subject = name === null ? "its budget" : `the budget ${name}`;
  const isCost = maxMicros !== null && costUsd !== null && costUsd * MICROS_PER_USD >= maxMicros;
  if (isCost) return `The task has spent ${costUsd} US dollars, and ${subject} permits ${maxMicros / MICROS_PER_USD}.`;
  const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens;
  return `The task has used ${tokens} tokens, and ${subject} permits ${maxTokens}.`;
}

const raise = (cap: SpendingCap, { by, micros }: { by: SpendingCap; micros: number | null }): SpendingCap => ({
  ...cap,
  maxMicros: cap.maxMicros === null ? null : cap.maxMicros + (micros ?? by.maxMicros ?? 0),
  maxTokens: cap.maxTokens === null ? null : cap.maxTokens + (by.maxTokens ?? 0),
});
