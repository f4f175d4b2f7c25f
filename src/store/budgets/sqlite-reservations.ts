import type { TaskIdentity } from "../../task.ts";
import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import type { NewEvent } from "../events/interface.ts";
import type { BudgetAsk, BudgetLimit, LimitsAt } from "./interface.ts";
import {
  type Amounts,
  type Change,
  encodeNeeds,
  hasRoomFor,
  isExceeded,
  largestAsk,
  limitsOf,
  meter,
  type PartialAmounts,
  type PeriodCounts,
  type Reservation,
  type RunTotal,
  reserve,
  settle,
  toEmptyPeriod,
  toUnstarted,
  UNKNOWN_TOTAL,
  warn,
} from "./rows.ts";
import { createBudgetRows } from "./sqlite-rows.ts";

/** What a report or an end has changed. */
interface Outcome {
  /** Warnings, for the log of the task. */
  events: NewEvent[];
  /** A budget that has no room for what the task has used. */
  reached: string | null;
}

/** The reservation of a task that starts. */
interface StartLedger {
  /** The largest asks with which a task may start, as JSON for the claim; null if no budget holds any task back. */
  findLargestAsks(owner: { tenant: string; provider: string }): string | null;
  /** Whether all budgets have room for what a new task asks. */
  haveRoom(asks: readonly BudgetAsk[]): boolean;
  /** Reserves what a stored task asks. */
  reserve(task: Pick<TaskIdentity, "seq">): void;
}

/** Creates the reservations of tasks. All changes run inside an operation that is already running. */
export function createReservations(driver: SqliteDriver, { clock, limitsAt }: { clock: () => number; limitsAt: LimitsAt }) {
  /** Numbers of the tasks with rows in `task_budget`, so that other tasks cost no statement. A failed operation can leave one too many. */
  const limited = new Set(driver.all("SELECT DISTINCT task FROM task_budget").map(({ task }) => Number(task)));

  const { noteAsk, mayHold } = createLargestAsks(driver);
  const rows = createBudgetRows(driver);
  const { findPeriod, keepPeriod, readReservations, keepReservations, removePeriods } = rows;
  const readPeriod = (limit: BudgetLimit): PeriodCounts => findPeriod(limit.name, limit.startsAt) ?? toEmptyPeriod(limit);

  /** Changes each reservation that a task holds, and its period. */
  function changeHeld(
    task: TaskIdentity,
    change: (period: PeriodCounts, reservation: Reservation) => Change & { exceedsReservation?: boolean },
  ): Outcome & { reservations: readonly Reservation[] } {
    const outcome: Outcome = { events: [], reached: null };
    if (!limited.has(task.seq)) return { ...outcome, reservations: [] };
    const limits = limitsAt(clock());
    const reservations = readReservations(task.seq).map((held) => {
      const before = held.startsAt === null ? undefined : findPeriod(held.name, held.startsAt);
      if (before === undefined) return held;
      const limit = limits.find(({ name }) => name === held.name);
      const { period, reservation, exceedsReservation } = change(before, held);
      const warned = limit === undefined ? { period, events: [] } : warn(period, limit);
      keepPeriod(warned.period);
      outcome.events.push(...warned.events);
      if (limit !== undefined && exceedsReservation === true && isExceeded(period, limit)) outcome.reached = held.name;
      return reservation;
    });
    return { ...outcome, reservations };
  }

  return {
    /** Stores what a new task asks of budgets. With a ledger, the task starts at once, and reserves it. */
    insert(seq: number, asks: readonly BudgetAsk[], ledger: StartLedger | null): void {
      if (asks.length === 0) return;
      const reservations = toUnstarted(asks);
      keepReservations(seq, reservations);
      for (const { name, ask } of reservations) noteAsk(name, ask.micros ?? 0, ask.tokens ?? 0);
      limited.add(seq);
      ledger?.reserve({ seq });
    },
    /** Opens the budgets for the start of one task. Reads none if no budget limits a task. */
    openLedger: (now: number, { isLimited } = { isLimited: limited.size > 0 }): StartLedger =>
      createLedger(isLimited ? limitsAt(now) : [], { ...rows, readPeriod, mayHold, limited }),
    /** Counts what a running task has used so far. */
    meter(task: TaskIdentity, total: PartialAmounts): Outcome {
      const { reservations, ...outcome } = changeHeld(task, (period, reservation) => meter(period, reservation, total));
      if (reservations.length > 0) keepReservations(task.seq, reservations);
      return outcome;
    },
    /** Replaces the reservations of a task that ends by what it has used. Returns warnings. */
    settle(task: TaskIdentity, total: RunTotal): NewEvent[] {
      const { events } = changeHeld(task, (period, reservation) => settle(period, reservation, total));
      if (limited.has(task.seq)) keepReservations(task.seq, []);
      return events;
    },
    /** Returns the reservations of a task that is queued again; what it has used counts as spent. Returns warnings. */
    release(task: TaskIdentity, total: RunTotal = UNKNOWN_TOTAL): NewEvent[] {
      const { reservations, events } = changeHeld(task, (period, reservation) => settle(period, reservation, total));
      if (reservations.length === 0) return [];
      keepReservations(task.seq, reservations);
      driver.run(updateNeeds, encodeNeeds(reservations), task.seq);
      return events;
    },
    /** Whether budgets apply to a task that has not ended. */
    isLimited: ({ seq }: TaskIdentity): boolean => limited.has(seq),
    /** Call it after the commit that ends a task. */
    forget: ({ seq }: TaskIdentity): void => void limited.delete(seq),
    readPeriod,
    keepPeriod,
    removePeriods,
  };
}

/** What a ledger reads and changes. */
interface LedgerParts extends Pick<ReturnType<typeof createBudgetRows>, "keepPeriod" | "readReservations" | "keepReservations"> {
  readPeriod(limit: BudgetLimit): PeriodCounts;
  mayHold: ReturnType<typeof createLargestAsks>["mayHold"];
  limited: ReadonlySet<number>;
}

function createLedger(limits: readonly BudgetLimit[], { readPeriod, mayHold, limited, ...rows }: LedgerParts): StartLedger {
  const limitOf = (asked: Reservation): BudgetLimit | undefined => limits.find(({ name }) => name === asked.name);
  return {
    findLargestAsks(owner) {
      const largest = limitsOf(owner, limits).map((limit) => ({ name: limit.name, ...largestAsk(readPeriod(limit), limit) }));
      const holding = largest.filter(mayHold);
      return holding.length === 0 ? null : JSON.stringify(holding.map(({ name, micros, tokens }) => [name, micros, tokens]));
    },
    haveRoom: (asks) =>
      toUnstarted(asks).every((asked) => {
        const limit = limitOf(asked);
        return limit === undefined || hasRoomFor(asked, readPeriod(limit), limit);
      }),
    reserve({ seq }) {
      if (!limited.has(seq)) return;
      const reservations = rows.readReservations(seq).map((asked) => {
        const limit = limitOf(asked);
        if (limit === undefined) return asked;
        const { period, reservation } = reserve(readPeriod(limit), asked, limit);
        rows.keepPeriod(period);
        return reservation;
      });
      rows.keepReservations(seq, reservations);
    },
  };
}

/** Children wait for no budget. */
const updateNeeds = "UPDATE task SET budget_needs = ? WHERE seq = ? AND parent_seq IS NULL";

/** Keeps at least the largest asks of queued tasks, by budget. A budget with more room than that holds no task back. */
function createLargestAsks(driver: SqliteDriver) {
  const largestAsks = new Map<string, Amounts>();
  function noteAsk(name: string, micros: number, tokens: number): void {
    const known = largestAsks.get(name);
    largestAsks.set(name, { micros: Math.max(micros, known?.micros ?? 0), tokens: Math.max(tokens, known?.tokens ?? 0) });
  }
  for (const row of driver.all(selectLargestAsks)) noteAsk(String(row["name"]), Number(row["micros"]), Number(row["tokens"]));
  return {
    noteAsk,
    /** Whether there may be a queued task for which a budget has no room. */
    mayHold({ name, micros, tokens }: PartialAmounts & { name: string }): boolean {
      const asked = largestAsks.get(name) ?? { micros: 0, tokens: 0 };
      return (micros !== null && micros < asked.micros) || (tokens !== null && tokens < asked.tokens);
    },
  };
}

/** Of all tasks, because a running one may be queued again. */
const selectLargestAsks = `SELECT name, coalesce(max(ask_micros), 0) AS micros, coalesce(max(ask_tokens), 0) AS tokens
  FROM task_budget GROUP BY name`;
