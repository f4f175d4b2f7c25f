import type { ApprovalAnswer, SpendingAnswer } from "#contract";
import type { Raises } from "../../store/approvals/interface.ts";
import { toAmounts } from "../../store/budgets/rows.ts";
import { MICROS_PER_USD, type Spent } from "../../task.ts";
import { noSpending, type Spending } from "./spending.ts";
import { isSameSpent } from "./spent.ts";

/** A maximum of one task with its children, in millionths of a US dollar, and tokens; null: no maximum. */
export interface SpendingCap {
  /** The budget of the operator; null: the budget of the dispatch. */
  name: string | null;
  maxMicros: number | null;
  maxTokens: number | null;
}

/** A task at the maximum of its dispatch, and by how much an approval raises it by default. */
export interface RaiseRequest {
  spending: Spending;
  /** The maximum with all earlier raises. */
  cap: SpendingCap;
  /** Null for a maximum that the dispatch does not set. */
  raises: Raises<number | null>;
}

/** The approval by which a person raises the maximum of a dispatch. */
export interface BudgetApproval {
  /** Resolves with the decision. Never rejects. */
  request(request: RaiseRequest): Promise<ApprovalAnswer>;
  /** Reads by how much all decisions have raised the maximum, also those of an earlier run. Never rejects. */
  readRaises(): Promise<Raises>;
}

interface SpendingGuardOptions {
  /** The budget of the dispatch; null without one. */
  own: SpendingCap | null;
  /** Whether a maximum stops the task at its next model call, so that it keeps the answer of the last one. Otherwise it stops at once. */
  stopsAtNextCall(): boolean;
  /** Null, the default: the task stops at the maximum of its dispatch. */
  approval?: BudgetApproval | null;
  /** Stops the task. */
  stop(reason: string): void;
}

export type SpendingGuard = ReturnType<typeof createSpendingGuard>;

const ALLOWED: SpendingAnswer = { allowed: true };

/**
 * Creates the guard of what one task spends. A task whose calls Bridge can refuse is stopped at its next call, so that it keeps the answer
 * of the last one; any other task is stopped as soon as a report reaches a maximum. At the maximum of a dispatch that asks, the next call
 * waits for a decision instead.
 */
export function createSpendingGuard({ own, stopsAtNextCall, approval = null, stop }: SpendingGuardOptions) {
  /** The maxima of budgets that limit each task alone. */
  let caps: readonly SpendingCap[] = [];
  /** The maximum of the dispatch, with its raises. */
  let raised = own;
  let spending = noSpending;
  /** Why the task must not spend more, by a budget that it shares with other tasks; null if it may. */
  let exhausted: string | null = null;
  /** The answer to all calls that wait for a decision; null if none waits. */
  let asking: Promise<SpendingAnswer> | null = null;

  /** The reason for a stop; null if the task may spend more, or a person decides. */
  function findReason(): string | null {
    const reached = [...(approval === null && own !== null ? [own] : []), ...caps].find((cap) => isReached(cap, spending.counted));
    return reached === undefined ? exhausted : describe(reached);
  }

  function describe(reached: SpendingCap): string {
    const { known, counted } = spending;
    return describeReached(reached, counted) + (isSameSpent(known, counted) ? "" : INCOMPLETE);
  }

  function stopIfReached(): void {
    const reason = stopsAtNextCall() ? null : findReason();
    if (reason !== null) stop(reason);
  }

  function decideAlone(): SpendingAnswer {
    const reason = findReason();
    return reason === null ? ALLOWED : refuse(reason);
  }

  function refuse(reason: string): SpendingAnswer {
    stop(reason);
    return { allowed: false, reason };
  }

  /** Requests decisions until the maximum is no longer reached, or one of them is a rejection. */
  async function askForMore(cap: SpendingCap, { request, readRaises }: BudgetApproval): Promise<SpendingAnswer> {
    for (;;) {
      const reached = raise(cap, await readRaises());
      raised = reached;
      if (!isReached(reached, spending.counted)) return decideAlone();
      const { decision, reason } = await request({ spending, cap: reached, raises: toDefaultRaises(cap, reached, spending.counted) });
      if (decision === "reject") return refuse(describeRejection(describe(reached), reason));
    }
  }

  return {
    /** Adds maxima of budgets that limit each task alone. */
    addCaps(added: readonly SpendingCap[]): void {
      caps = [...caps, ...added];
      stopIfReached();
    },
    /** Call it with the new total of the task and its children. */
    onSpent(total: Spending): void {
      spending = total;
      stopIfReached();
    },
    /** Call it when a budget has no room for what the task spends. */
    onBudgetReached(name: string): void {
      exhausted = `The budget ${name} has no room for what the task spends.`;
      stopIfReached();
    },
    /** Whether the task may call its model. If not, it is stopped. A promise waits for a decision; it never rejects. */
    mayCall(): SpendingAnswer | Promise<SpendingAnswer> {
      const answer = decideAlone();
      if (!answer.allowed || own === null || approval === null) return answer;
      if (asking === null && (raised === null || !isReached(raised, spending.counted))) return ALLOWED;
      // Several calls at the same time wait for one decision.
      asking ??= askForMore(own, approval).finally(() => {
        asking = null;
      });
      return asking;
    },
  };
}

const INCOMPLETE = " A call whose response broke off counts with the most that it can have used.";

const isCostReached = ({ maxMicros }: SpendingCap, spent: Spent): boolean =>
  maxMicros !== null && (toAmounts(spent).micros ?? 0) >= maxMicros;

const areTokensReached = ({ maxTokens }: SpendingCap, spent: Spent): boolean =>
  maxTokens !== null && (toAmounts(spent).tokens ?? 0) >= maxTokens;

const isReached = (cap: SpendingCap, spent: Spent): boolean => isCostReached(cap, spent) || areTokensReached(cap, spent);

const raise = ({ name, maxMicros, maxTokens }: SpendingCap, { micros, tokens }: Raises): SpendingCap => ({
  ...{ name, maxMicros: maxMicros === null ? null : maxMicros + micros },
  maxTokens: maxTokens === null ? null : maxTokens + tokens,
});

/** An approval raises each reached maximum by that of the dispatch. */
const toDefaultRaises = (own: SpendingCap, reached: SpendingCap, spent: Spent): Raises<number | null> => ({
  micros: own.maxMicros !== null && !isCostReached(reached, spent) ? 0 : own.maxMicros,
  tokens: own.maxTokens !== null && !areTokensReached(reached, spent) ? 0 : own.maxTokens,
});

function describeReached(cap: SpendingCap, spent: Spent): string {
  const { name, maxMicros, maxTokens } = cap;
  const subject = name === null ? "its budget" : `the budget ${name}`;
  if (maxMicros !== null && isCostReached(cap, spent))
    return `The task has spent ${spent.costUsd} US dollars, and ${subject} permits ${maxMicros / MICROS_PER_USD}.`;
  return `The task has used ${toAmounts(spent).tokens} tokens, and ${subject} permits ${maxTokens}.`;
}

const describeRejection = (reached: string, reason: string | null): string =>
  `${reached} A higher maximum was rejected${reason === null || reason === "" ? "." : `: ${reason}`}`;
