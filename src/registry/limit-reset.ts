/** UTF-16 units of a message that are searched. The messages of vendors are short. */
const SEARCHED_UNITS = 4_000;

/** A reset that is further away is not credible, and a mistake in reading a message must not last. */
const MAX_WAIT_MS = 31 * 86_400_000;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, milli: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Returns when a usage limit ends, in ms since the epoch, from the message by which a vendor reports it; null if the message names no time.
 * A time without a zone is one of this machine, because the program that wrote it runs here.
 */
export function readLimitReset(message: string, now: number): number | null {
  const text = message.slice(0, SEARCHED_UNITS);
  const readers = [readTimestamp, readEpoch, readDuration, readClockTime];
  const resetsAt = readers.map((read) => read(text, now)).find((found) => found !== null) ?? null;
  return resetsAt === null || resetsAt <= now || resetsAt > now + MAX_WAIT_MS ? null : resetsAt;
}

/** As in "resets at 2030-01-01T00:00:00.000Z". */
function readTimestamp(text: string): number | null {
  const [found] = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)/.exec(text) ?? [];
  const at = Date.parse(found ?? "");
  return Number.isNaN(at) ? null : at;
}

/** Seconds or milliseconds since the epoch, as in "usage limit reached|1749924000". */
function readEpoch(text: string): number | null {
  const [, seconds, milliseconds] = /(?:\||resets?\D{0,10})(?:(1\d{9})|(1\d{12}))\b/i.exec(text) ?? [];
  return seconds !== undefined ? Number(seconds) * 1000 : milliseconds !== undefined ? Number(milliseconds) : null;
}

/** As in "try again in 5h 12m", "retry in 34.07s", "reset after 7h13m5s", "in 3 days 2 hours", "retry-after: 30". */
function readDuration(text: string, now: number): number | null {
  const [, list] = /\b(?:in|after)\W{1,3}(\d[\w., ]{0,80})/i.exec(text) ?? [];
  if (list === undefined) return null;
  const part = /[ ,]*(?:and )?(\d{1,9}(?:\.\d{1,9})?) ?(ms|milli|[smhdw])[a-z]*/iy;
  let total = 0;
  let found = part.exec(list);
  if (found === null) return /^\d{1,9}\b/.test(list) ? now + Number.parseInt(list, 10) * 1000 : null;
  for (; found !== null; found = part.exec(list)) total += Number(found[1]) * (UNIT_MS[String(found[2]).toLowerCase()] ?? 0);
  return now + total;
}

/** As in "resets 3pm", "resets 3:30pm (Europe/Zurich)", "resets Oct 9 at 3pm (UTC)", "try again at Oct 9th, 2025 3:51 PM". */
function readClockTime(text: string, now: number): number | null {
  const pattern =
    /\b(?:resets?|again)(?: at| on)? ?(?:([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}),?)?(?: at)? )?(\d{1,2})(?::(\d\d))? ?(am|pm)?(?: \(?((?:[a-z]+\/[a-z_/]+)|utc|gmt)\)?)?/i;
  const [, month, day, year, hours, minutes = "0", half, zone] = pattern.exec(text) ?? [];
  if (hours === undefined || (half === undefined && minutes === "0")) return null;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  const offset = offsetOf(zone, now);
  const today = new Date(now + offset);
  const monthIndex = month === undefined ? today.getUTCMonth() : MONTHS.indexOf(month.slice(0, 3).toLowerCase());
  if (monthIndex < 0 || hour > 23) return null;
  const at = (shift: { years: number; days: number }): number =>
    Date.UTC(
      Number(year ?? today.getUTCFullYear()) + shift.years,
      monthIndex,
      Number(day ?? today.getUTCDate()) + shift.days,
      hour,
      Number(minutes),
    ) - offset;
  const next = at({ years: 0, days: 0 });
  if (next > now || year !== undefined) return next;
  return at(day === undefined ? { years: 0, days: 1 } : { years: 1, days: 0 });
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Milliseconds by which the clocks of a zone are ahead of UTC; those of this machine if the zone is unknown. */
function offsetOf(zone: string | undefined, at: number): number {
  try {
    const parts = new Intl.DateTimeFormat("en-US", { ...(zone !== undefined && { timeZone: zone }), timeZoneName: "longOffset" })
      .formatToParts(at)
      .find(({ type }) => type === "timeZoneName")?.value;
    const [, sign, hours = "0", minutes = "0"] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(parts ?? "") ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  } catch {
    return offsetOf(undefined, at);
  }
}
