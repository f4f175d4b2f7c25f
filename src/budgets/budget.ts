/** The lengths of the periods of a budget. A budget `per` task limits each task alone. */
export const budgetPeriods = ["task", "hour", "day", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** What a task does when a budget has no room for it: it is rejected, or it waits in the queue. */
export const whenReachedModes = ["refuse", "wait"] as const;

/** A maximum of spending, which the operator lists in a file. */
export interface Budget {
  /** Unique in the file. */
  name: string;
  scope: BudgetScope;
  per: BudgetPeriod;
  /** The IANA time zone in which its hours, days and months begin. */
  timezone: string;
  /** In millionths of a US dollar; null: no maximum of the cost. */
  maxMicros: number | null;
  maxTokens: number | null;
  /** Shares of the maximum at which Bridge warns, ascending. */
  warnAt: readonly number[];
  whenReached: (typeof whenReachedModes)[number];
}

/** The tasks to which a budget applies: those that fulfill all given conditions. */
export interface BudgetScope {
  tenant?: string | undefined;
  agentId?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  /** Name of the token of the dispatch. */
  token?: string | undefined;
  labels: Readonly<Record<string, string>>;
}

/** What scopes compare of a task. */
export interface SpendingTask {
  tenant: string;
  agentId: string;
  provider: string;
  /** The requested model; null for the default of the adapter. */
  model: string | null;
  /** Null without a named token. */
  token: string | null;
  labels: Readonly<Record<string, string>>;
}

const scopeFields = ["tenant", "agentId", "provider", "model", "token"] as const;

/** Whether a budget applies to a task. */
export const matchesScope = ({ labels, ...scope }: BudgetScope, task: SpendingTask): boolean =>
  scopeFields.every((field) => scope[field] === undefined || scope[field] === task[field]) &&
  Object.entries(labels).every(([name, value]) => Object.hasOwn(task.labels, name) && task.labels[name] === value);

/** A period of a budget, in ms since the epoch. `endsAt` is the start of the next one. */
export interface Period {
  startsAt: number;
  endsAt: number;
}

const HOUR_MS = 3_600_000;

/** Local dates differ from UTC by less than this: offsets are between -12 and +14 hours. */
const MAX_OFFSET_MS = 16 * HOUR_MS;

/**
 * Returns the period that contains a time. Days and months begin with the first instant of their local date, so that a day has 23 or 25
 * hours when the clocks change.
 */
export function periodOf({ per, timezone }: { per: Exclude<BudgetPeriod, "task">; timezone: string }, now: number): Period {
  const toDate = createDateReader(timezone);
  const { year, month, day, minuteMs } = toDate(now);
  if (per === "hour") {
    const startsAt = now - minuteMs;
    return { startsAt, endsAt: startsAt + HOUR_MS };
  }
  const first = per === "day" ? day : 1;
  const next = per === "day" ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
  return { startsAt: findStart(Date.UTC(year, month, first), toDate), endsAt: findStart(next, toDate) };
}

interface LocalDate {
  year: number;
  /** 0 to 11, as in `Date.UTC`. */
  month: number;
  day: number;
  /** Milliseconds since the beginning of the local hour. */
  minuteMs: number;
}

/** Creates a function that reads the local date at a time. */
function createDateReader(timeZone: string): (at: number) => LocalDate {
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23" },
    ...{ year: "numeric", month: "numeric", day: "numeric", minute: "numeric", second: "numeric" },
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, minute = 0, second = 0 } = parts;
    return { year, month: month - 1, day, minuteMs: (minute * 60 + second) * 1000 + (at % 1000) };
  };
}

/** Returns the first instant of a local date, which is given as its midnight in UTC. Some local dates do not begin at 00:00. */
function findStart(date: number, toDate: (at: number) => LocalDate): number {
  let [before, after] = [date - MAX_OFFSET_MS, date + MAX_OFFSET_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const { year, month, day } = toDate(middle);
    if (Date.UTC(year, month, day) < date) before = middle;
    else after = middle;
  }
  return after;
}
