import { CommandError } from "./command-error.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a time such as `2026-11-22T09:30:00Z`, or a duration before now such as `2h`, to ISO 8601 in UTC. */
export function parseTime(flag: string, text: string | undefined, now = Date.now()): string | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = amount === undefined ? parseIsoTime(text) : now - Number(amount) * (UNIT_MS[unit] ?? 0);
  // A long duration before now can be out of the range of dates.
  if (ms !== null && !Number.isNaN(new Date(ms).getTime())) return new Date(ms).toISOString();
  throw new CommandError("usage", `${flag} must be a time, such as 2026-11-22T09:30:00Z, or a duration, such as 2h; got "${text}".`);
}

/**
 * Returns the time of an ISO 8601 text in ms since the epoch; null if it is none. `Date.parse` accepts almost any text with a number: it
 * reads `10` and `last 3` as dates in 2001, and February 30 as March 2.
 */
export function parseIsoTime(text: string): number | null {
  const [, year, month, day] = ISO_TIME.exec(text) ?? [];
  const ms = year === undefined ? Number.NaN : Date.parse(text.replace(" ", "T"));
  const isDay = Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number.isNaN(ms) || !isDay ? null : ms;
}

/** A date, or a date and a time, with or without a time zone. */
const ISO_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;
