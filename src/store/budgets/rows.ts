import { MICROS_PER_USD, type Spent } from "../../task.ts";
import type { NewEvent } from "../events/interface.ts";
import type { Finish } from "../tasks/interface.ts";
import type { StoredRow } from "../tasks/rows.ts";
import { UNBILLED_CODES } from "../usage/rows.ts";
import type { BudgetAsk, BudgetCounts, BudgetLimit } from "./interface.ts";

/** A cost in millionths of a US dollar, and a number of tokens. */
export interface Amounts {
  readonly micros: number;
  readonly tokens: number;
}

/** The same with null for what is unknown or not limited. */
export interface PartialAmounts {
  readonly micros: number | null;
  readonly tokens: number | null;
}

/** The stored counts of one period of a budget. */
export interface PeriodCounts {
  readonly name: string;
  readonly startsAt: number;
  readonly endsAt: number;
  /** What ended and running tasks have used, as far as it is known; includes `estimated`. */
  readonly spent: Amounts;
  /** What running tasks may still use. */
  readonly reserved: Amounts;
  /** Reservations of tasks with unknown usage, which count as spent. */
  readonly estimated: Amounts;
  /** The highest share of the maximum at which Bridge has warned. */
  readonly warned: number;
}

/** What one task may use of a budget, and has used of it. */
export interface Reservation {
  readonly name: string;
  /** What the task reserves when it starts; null: the budget has no such maximum. */
  readonly ask: PartialAmounts;
  /** The period in which it has reserved; null: the task does not run, or the budget did not exist when it started. */
  readonly startsAt: number | null;
  readonly reserved: Amounts;
  /** How much of the usage of the task is in the `spent` of periods. */
  readonly settled: Amounts;
  /** The period in which it has reserved last; null before its first run. */
  readonly lastStartsAt: number | null;
  /** How much of `settled` is in periods before that one. */
  readonly earlier: Amounts;
}

/** The limit of one task, so that sums stay exact numbers: a million dollars, and a million million tokens. */
const MAX_AMOUNT = 1e12;

const toAmount = (amount: number): number => Math.round(Math.min(Math.max(amount, 0), MAX_AMOUNT));

/** What usage and cost add to budgets: all tokens count alike. Null: unknown. */
export const toAmounts = ({ usage, costUsd }: Pick<Spent, "usage" | "costUsd">): PartialAmounts => ({
  micros: costUsd === null ? null : toAmount(costUsd * MICROS_PER_USD),
  tokens: usage === null ? null : toAmount(usage.inputTokens + usage.outputTokens),
});

/** A period with a reservation in it, after a change. */
export interface Change {
  readonly period: PeriodCounts;
  readonly reservation: Reservation;
}

const dimensions = ["micros", "tokens"] as const;
type Dimension = (typeof dimensions)[number];

export const NOTHING: Amounts = { micros: 0, tokens: 0 };

const each = (compute: (dimension: Dimension) => number): Amounts => ({ micros: compute("micros"), tokens: compute("tokens") });
const add = (left: Amounts, right: Amounts): Amounts => each((dimension) => left[dimension] + right[dimension]);
const subtract = (left: Amounts, right: Amounts): Amounts => each((dimension) => Math.max(0, left[dimension] - right[dimension]));

/** The limits that can hold back tasks of a tenant on an adapter. */
export const limitsOf = ({ tenant, provider }: { tenant: string; provider: string }, limits: readonly BudgetLimit[]): BudgetLimit[] =>
  limits.filter((limit) => (limit.tenant ?? tenant) === tenant && (limit.provider ?? provider) === provider);

/** A period in which nothing was reserved or spent yet. */
export const toEmptyPeriod = ({ name, startsAt, endsAt }: Pick<BudgetLimit, "name" | "startsAt" | "endsAt">): PeriodCounts => ({
  ...{ name, startsAt, endsAt, warned: 0 },
  ...{ spent: NOTHING, reserved: NOTHING, estimated: NOTHING },
});

const toMaximum = ({ maxMicros, maxTokens }: Pick<BudgetLimit, "maxMicros" | "maxTokens">): PartialAmounts => ({
  micros: maxMicros,
  tokens: maxTokens,
});

type Used = Pick<PeriodCounts, "spent" | "reserved">;

/** What tasks can still reserve in a period; null: no maximum. Never below 0. */
export function remainingOf({ spent, reserved }: Used, limit: BudgetLimit): PartialAmounts {
  const maximum = toMaximum(limit);
  const remaining = (dimension: Dimension): number | null =>
    maximum[dimension] === null ? null : Math.max(0, maximum[dimension] - spent[dimension] - reserved[dimension]);
  return { micros: remaining("micros"), tokens: remaining("tokens") };
}

/**
 * The largest ask with which a queued task may start; null: any. A task that asks for more than the whole maximum, for example because the
 * maximum was lowered while it waited, may start when nothing else is spent or reserved.
 */
export function largestAsk(period: Used, limit: BudgetLimit): PartialAmounts {
  const maximum = toMaximum(limit);
  const remaining = remainingOf(period, limit);
  const largest = (dimension: Dimension): number | null => (remaining[dimension] === maximum[dimension] ? null : remaining[dimension]);
  return { micros: largest("micros"), tokens: largest("tokens") };
}

/** What a task needs to start: at least 1, so that it does not start in an exhausted budget. A later run needs what the first has left. */
export const needOf = ({ ask, settled }: Pick<Reservation, "ask" | "settled">): PartialAmounts => {
  const need = (dimension: Dimension): number | null => (ask[dimension] === null ? null : Math.max(1, ask[dimension] - settled[dimension]));
  return { micros: need("micros"), tokens: need("tokens") };
};

/** Whether a budget has room for what a task needs to start. */
export const hasRoomFor = (reservation: Reservation, period: Used, limit: BudgetLimit): boolean => {
  const [need, largest] = [needOf(reservation), largestAsk(period, limit)];
  return dimensions.every((dimension) => (need[dimension] ?? 0) <= (largest[dimension] ?? Number.POSITIVE_INFINITY));
};

/** Returns the reservations of a new task, which reserve nothing yet, sorted by name. */
export const toUnstarted = (asks: readonly BudgetAsk[]): Reservation[] =>
  asks
    .map(({ name, askMicros, askTokens }) => ({
      ...{ name, ask: { micros: askMicros, tokens: askTokens } },
      ...{ startsAt: null, reserved: NOTHING, settled: NOTHING, lastStartsAt: null, earlier: NOTHING },
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** What a queued task needs of budgets, as rows of name, cost and tokens in JSON. Equal needs are equal texts. */
export function encodeNeeds(reservations: readonly Reservation[]): string {
  const needs = reservations.map((reservation) => ({ name: reservation.name, ...needOf(reservation) }));
  return JSON.stringify(needs.flatMap(({ name, micros, tokens }) => (micros === null && tokens === null ? [] : [[name, micros, tokens]])));
}

/** Reserves what a starting task needs, as far as there is room: children start without waiting for room. */
export function reserve(period: PeriodCounts, reservation: Reservation, limit: BudgetLimit): Change {
  const [need, remaining] = [needOf(reservation), remainingOf(period, limit)];
  const reserved = each((dimension) =>
    need[dimension] === null ? 0 : Math.min(need[dimension], remaining[dimension] ?? Number.POSITIVE_INFINITY),
  );
  return {
    period: { ...period, endsAt: limit.endsAt, reserved: add(period.reserved, reserved) },
    reservation: {
      ...{ ...reservation, startsAt: period.startsAt, reserved, lastStartsAt: period.startsAt },
      earlier: reservation.lastStartsAt === period.startsAt ? reservation.earlier : reservation.settled,
    },
  };
}

/** Moves what a running task has used by now from its reservation to what is spent. A smaller total than before changes nothing. */
export function meter(period: PeriodCounts, reservation: Reservation, total: PartialAmounts): Change & { exceedsReservation: boolean } {
  const used = each((dimension) => Math.max(0, (total[dimension] ?? 0) - reservation.settled[dimension]));
  const released = each((dimension) => Math.min(used[dimension], reservation.reserved[dimension]));
  return {
    period: { ...period, spent: add(period.spent, used), reserved: subtract(period.reserved, released) },
    reservation: {
      ...reservation,
      reserved: subtract(reservation.reserved, released),
      settled: add(reservation.settled, used),
    },
    exceedsReservation: dimensions.some((dimension) => reservation.ask[dimension] !== null && used[dimension] > released[dimension]),
  };
}

/** What a run has used in all, as far as it is known. */
export interface RunTotal extends PartialAmounts {
  /** Whether a run whose usage is unknown has used nothing, because it has called no model. */
  readonly isFree: boolean;
  /** Whether it may have used more than the total, because its process has ended without storing it. */
  readonly isLeast: boolean;
}

/** The total of a run from the end of its task. */
export const toRunTotal = ({ result: { usage, costUsd, errorCode }, usedNoModel = false, isInterrupted = false }: RunEnd): RunTotal => ({
  ...toAmounts({ usage: usage ?? null, costUsd: costUsd ?? null }),
  ...{ isFree: usedNoModel || UNBILLED_CODES.has(errorCode), isLeast: isInterrupted },
});

type RunEnd = Pick<Finish, "result" | "usedNoModel" | "isInterrupted">;

/** The total of a run whose vendor rejected its calls, so that it has used nothing else than what is known. */
export const toSpentTotal = (spent: Parameters<typeof toAmounts>[0]): RunTotal => ({ ...toAmounts(spent), isFree: true, isLeast: true });

/** The total of a run that was interrupted. */
export const UNKNOWN_TOTAL: RunTotal = { micros: null, tokens: null, isFree: false, isLeast: true };

/**
 * Ends the reservation of a run. The known total replaces it. If the total is unknown, what was metered counts, or the whole reservation if
 * nothing was, as an estimate. A total below what was counted is refunded, as far as the period has counted it.
 */
export function settle(period: PeriodCounts, reservation: Reservation, total: RunTotal): Change {
  const { reserved, settled, earlier } = reservation;
  const isGuessed = (dimension: Dimension): boolean => total[dimension] === null && settled[dimension] === 0 && !total.isFree;
  const guessed = each((dimension) => (isGuessed(dimension) ? reserved[dimension] : 0));
  const used = (dimension: Dimension): number => {
    if (total[dimension] === null) return guessed[dimension];
    return Math.max(total[dimension] - settled[dimension], total.isLeast ? 0 : earlier[dimension] - settled[dimension]);
  };
  return {
    period: {
      ...period,
      spent: each((dimension) => Math.max(0, period.spent[dimension] + used(dimension))),
      reserved: subtract(period.reserved, reserved),
      estimated: add(period.estimated, guessed),
    },
    reservation: {
      ...{ ...reservation, startsAt: null, reserved: NOTHING },
      settled: each((dimension) => Math.max(total[dimension] ?? settled[dimension], (total.isLeast ? settled : earlier)[dimension])),
    },
  };
}

/** Whether what is spent and reserved exceeds a maximum. */
export function isExceeded({ spent, reserved }: PeriodCounts, limit: BudgetLimit): boolean {
  const maximum = toMaximum(limit);
  return dimensions.some((dimension) => spent[dimension] + reserved[dimension] > (maximum[dimension] ?? Number.POSITIVE_INFINITY));
}

/** The share of the maximum that is spent: of the cost or of the tokens, whichever is larger. */
function shareOf({ spent }: Pick<PeriodCounts, "spent">, limit: Pick<BudgetLimit, "maxMicros" | "maxTokens">): number {
  const maximum = toMaximum(limit);
  return Math.max(...dimensions.map((dimension) => (maximum[dimension] === null ? 0 : spent[dimension] / maximum[dimension])));
}

/** Returns the events of the thresholds that are newly reached, and the period in which Bridge has warned of them. */
export function warn(period: PeriodCounts, limit: BudgetLimit): { period: PeriodCounts; events: NewEvent[] } {
  const share = shareOf(period, limit);
  const reached = limit.warnAt.filter((threshold) => threshold > period.warned && threshold <= share);
  const highest = reached.at(-1);
  if (highest === undefined) return { period, events: [] };
  return { period: { ...period, warned: highest }, events: reached.map((threshold) => toWarning(period, limit, threshold)) };
}

function toWarning({ name, spent }: PeriodCounts, { maxMicros, maxTokens }: BudgetLimit, share: number): NewEvent {
  const data = {
    ...{ budget: name, share, spentUsd: spent.micros / MICROS_PER_USD },
    maxCostUsd: maxMicros === null ? null : maxMicros / MICROS_PER_USD,
    ...{ spentTokens: spent.tokens, maxTokens },
  };
  return { type: "budget.warning", data: JSON.stringify(data) };
}

/** Replaces what is spent, after a price was wrong. Bridge warns again of thresholds above the new share. */
export function adjust(period: PeriodCounts, limit: BudgetLimit, spentMicros: number): PeriodCounts {
  const spent = { ...period.spent, micros: spentMicros };
  const estimated = { ...period.estimated, micros: Math.min(period.estimated.micros, spentMicros) };
  return { ...period, spent, estimated, warned: Math.min(period.warned, shareOf({ spent }, limit)) };
}

/** The columns of `toPeriod`. */
export const periodColumns =
  "name, starts_at, ends_at, spent_micros, spent_tokens, reserved_micros, reserved_tokens, estimated_micros, estimated_tokens, warned";

/** A row of `budget_period`. */
export const toPeriod = (row: StoredRow): PeriodCounts => ({
  ...{ name: String(row["name"]), startsAt: Number(row["starts_at"]), endsAt: Number(row["ends_at"]), warned: Number(row["warned"]) },
  spent: { micros: Number(row["spent_micros"]), tokens: Number(row["spent_tokens"]) },
  reserved: { micros: Number(row["reserved_micros"]), tokens: Number(row["reserved_tokens"]) },
  estimated: { micros: Number(row["estimated_micros"]), tokens: Number(row["estimated_tokens"]) },
});

/** The columns of a period. */
export const toPeriodRow = ({ name, startsAt, endsAt, spent, reserved, estimated, warned }: PeriodCounts) => ({
  ...{ name, starts_at: startsAt, ends_at: endsAt, spent_micros: spent.micros, spent_tokens: spent.tokens },
  ...{ reserved_micros: reserved.micros, reserved_tokens: reserved.tokens },
  ...{ estimated_micros: estimated.micros, estimated_tokens: estimated.tokens, warned },
});

/** The columns of `toReservation`. */
export const reservationColumns = [
  "name, ask_micros, ask_tokens, starts_at, reserved_micros, reserved_tokens, settled_micros, settled_tokens",
  "last_starts_at, earlier_micros, earlier_tokens",
].join(", ");

/** A row of `task_budget`. */
export const toReservation = (row: StoredRow): Reservation => ({
  ...{ name: String(row["name"]), startsAt: row["starts_at"] as number | null },
  ask: { micros: row["ask_micros"] as number | null, tokens: row["ask_tokens"] as number | null },
  reserved: { micros: Number(row["reserved_micros"]), tokens: Number(row["reserved_tokens"]) },
  settled: { micros: Number(row["settled_micros"]), tokens: Number(row["settled_tokens"]) },
  lastStartsAt: row["last_starts_at"] as number | null,
  earlier: { micros: Number(row["earlier_micros"]), tokens: Number(row["earlier_tokens"]) },
});

/** The columns of a reservation. */
export const toReservationRow = ({ name, ask, startsAt, reserved, settled, lastStartsAt, earlier }: Reservation) => ({
  ...{ name, ask_micros: ask.micros, ask_tokens: ask.tokens, starts_at: startsAt },
  ...{ reserved_micros: reserved.micros, reserved_tokens: reserved.tokens },
  ...{ settled_micros: settled.micros, settled_tokens: settled.tokens },
  ...{ last_starts_at: lastStartsAt, earlier_micros: earlier.micros, earlier_tokens: earlier.tokens },
});

/** What budgets show of a period. */
export const toCounts = ({ name, startsAt, spent, reserved, estimated }: PeriodCounts, waitingTasks: number): BudgetCounts => ({
  ...{ name, startsAt, spentMicros: spent.micros, spentTokens: spent.tokens },
  ...{ reservedMicros: reserved.micros, reservedTokens: reserved.tokens, estimatedMicros: estimated.micros, waitingTasks },
});
