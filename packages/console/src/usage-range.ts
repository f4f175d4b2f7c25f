/** Ranges that end today, and yesterday. Days are those of the browser's time zone. */
export const usageWindows = ["today", "yesterday", "7d", "30d", "90d", "365d"] as const;
export type UsageWindow = (typeof usageWindows)[number];

/** Names of the ranges. */
export const windowNames: Readonly<Record<UsageWindow, string>> = {
  ...{ today: "Today", yesterday: "Yesterday", "7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "365 days" },
};

/** A range of whole days, such as `2026-11-27`. The last one is included. */
export interface Days {
  from: string;
  to: string;
}

/** What the page of usage shows: a named range, or any other. */
export type UsageRange = UsageWindow | Days;

/** Bridge keeps its sums for this time. */
const KEPT_DAYS = 400;
const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the range from the query of the page; today if it has none. */
export function parseRange(query: URLSearchParams): UsageRange {
  const [from, to] = ["from", "to"].map((name) => query.get(name) ?? "");
  if (from !== undefined && to !== undefined && isDay(from)) {
    const last = isDay(to) ? to : from;
    return from <= last ? { from, to: last } : { from: last, to: from };
  }
  return usageWindows.find((name) => name === query.get("window")) ?? "today";
}

/** Returns the query of the page for a range. */
export const toRangeQuery = (range: UsageRange): Record<string, string> => (typeof range === "string" ? { window: range } : { ...range });

/** Returns when a range begins, when it ends, and its number of days. `to` is null for the present. */
export function timesOf(range: UsageRange, now: number): { from: Date; to: Date | null; days: number } {
  const today = new Date(now);
  const daysAgo = (count: number): Date => new Date(today.getFullYear(), today.getMonth(), today.getDate() - count);
  if (range === "today") return { from: daysAgo(0), to: null, days: 1 };
  if (range === "yesterday") return { from: daysAgo(1), to: daysAgo(0), days: 1 };
  if (typeof range === "string") {
    const days = Number.parseInt(range, 10);
    return { from: daysAgo(days - 1), to: null, days };
  }
  const [from, last] = [toLocalDay(range.from), toLocalDay(range.to)];
  const to = new Date(last.getFullYear(), last.getMonth(), last.getDate() + 1);
  return { from, to, days: Math.round((to.getTime() - from.getTime()) / DAY_MS) };
}

/** The period before a range, of the same length. */
export interface PreviousPeriod {
  from: Date;
  to: Date;
  /** What it is called: `yesterday`, `the 7 days before`. */
  name: string;
  /** Whether the range has not ended, so that the period ends at the same time of its last day. */
  isPartial: boolean;
}

/** Returns the period before a range; null if Bridge no longer has all of its sums. */
export function previousOf(range: UsageRange, now: number): PreviousPeriod | null {
  const { from, to, days } = timesOf(range, now);
  const earlier = (time: Date): Date => {
    const date = new Date(time);
    date.setDate(date.getDate() - days);
    return date;
  };
  const start = earlier(from);
  if (start.getTime() < now - KEPT_DAYS * DAY_MS) return null;
  const name = range === "today" ? "yesterday" : days === 1 ? "the day before" : `the ${days} days before`;
  return { from: start, to: earlier(to ?? new Date(now)), name, isPartial: to === null };
}

/** Returns the day of the time zone that a group of Bridge stands for. The clock may have changed since the start of the range. */
export function dayOf(key: string): string {
  const noon = new Date(Date.parse(key) + 12 * HOUR_MS);
  return toDay(noon);
}

/** Formats a day of the browser's time zone as `2026-11-27`. */
export const toDay = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

function toLocalDay(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date);
}

const isDay = (text: string): boolean => dayPattern.test(text) && toDay(toLocalDay(text)) === text;

const dayFormat = new Intl.DateTimeFormat([], { dateStyle: "medium" });

/** Names the days of a range, such as `Nov 27, 2026` or `Nov 21 – 27, 2026`. */
export function describeRange(range: UsageRange, now: number): string {
  const { from, to } = timesOf(range, now);
  return dayFormat.formatRange(from, to === null ? new Date(now) : new Date(to.getTime() - 1));
}
