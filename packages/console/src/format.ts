/** Formats of numbers, times and texts. Unknown values are `?`, never 0. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration with its largest unit, and the next one where it matters: `850 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `4 d`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return joinUnits(Math.round(ms / SECOND_MS), 60, "min", "s");
  if (ms < DAY_MS) return joinUnits(Math.round(ms / MINUTE_MS), 60, "h", "min");
  return joinUnits(Math.round(ms / HOUR_MS), 24, "d", "h");
}

/** Formats the duration of a task in whole seconds, so that it does not flicker while it grows: `0 s`, `12 s`, `3 min 20 s`. */
export const formatRunTime = (ms: number): string => (ms < MINUTE_MS ? `${Math.max(0, Math.floor(ms / SECOND_MS))} s` : formatDuration(ms));

function joinUnits(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size;
  return rest === 0 ? `${Math.floor(amount / size)} ${large}` : `${Math.floor(amount / size)} ${large} ${rest} ${small}`;
}

/** Formats the time since then in one unit: `now`, `12 s`, `3 min`, `2 h`, `4 d`. */
export function formatAge(iso: string | null, now: number): string {
  if (iso === null) return "";
  const ms = now - Date.parse(iso);
  if (ms < SECOND_MS) return "now";
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** Formats the time since then for a sentence: `just now`, `12 s ago`. */
export function formatAgo(iso: string, now: number): string {
  const age = formatAge(iso, now);
  return age === "now" ? "just now" : `${age} ago`;
}

/** Created once, because that takes a hundred times as long as formatting. */
const timeOfDay = new Intl.DateTimeFormat([], { timeStyle: "medium", hourCycle: "h23" });
const day = new Intl.DateTimeFormat([], { dateStyle: "medium" });

/** Formats a time of the day with 24 hours, after the date if it is another day than today: `15:04:05`, `Nov 23, 2026 15:04:05`. */
export function formatTime(iso: string, now: number): string {
  const date = new Date(iso);
  const time = timeOfDay.format(date);
  return date.toDateString() === new Date(now).toDateString() ? time : `${day.format(date)} ${time}`;
}

/** The time zone of the browser, such as `Europe/Berlin`. */
export const localZone = day.resolvedOptions().timeZone;

/** Formats a time with its date and its time zone. The name of the zone is constant, because its short form takes long to find. */
export const formatFullTime = (iso: string): string => {
  const date = new Date(iso);
  return `${day.format(date)} ${timeOfDay.format(date)} ${localZone}`;
};

const MIN_COST_USD = 0.0001;

/** Converts a time to the value of a field for a local time, in minutes; empty if it is no time. */
export function toLocalTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts the value of a field for a local time to a time in UTC; empty if the field is. */
export const fromLocalTime = (value: string): string => (value === "" ? "" : new Date(value).toISOString());

/** Formats a cost. Small costs keep two significant digits. */
export function formatCost(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "?";
  if (usd === 0 || usd >= 0.1) return `$${usd.toFixed(2)}`;
  return usd < MIN_COST_USD ? `<$${MIN_COST_USD}` : `$${usd.toPrecision(2)}`;
}

/** Formats a count with a unit prefix: `950`, `12.3 k`, `4 M`. */
export function formatCount(count: number | null | undefined): string {
  if (count === null || count === undefined) return "?";
  if (count < 10_000) return String(count);
  const [size, unit] = count < 1_000_000 ? [1000, "k"] : [1_000_000, "M"];
  return `${Number((count / size).toFixed(1))} ${unit}`;
}

/** Formats a number of bytes: `120 B`, `4.2 KiB`, `3 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [size, unit] = bytes < 1024 ** 2 ? [1024, "KiB"] : bytes < 1024 ** 3 ? [1024 ** 2, "MiB"] : [1024 ** 3, "GiB"];
  return `${Number((bytes / size).toFixed(1))} ${unit}`;
}

/**
 * Makes characters visible that change how other text looks: control characters, such as those of terminal colors, and characters that
 * reverse the direction of text or have no width. Without this, the input of a tool could look like another one.
 */
export function showHidden(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/**
 * Characters of the categories control, format, and line and paragraph separator, and others that show nothing. Line breaks, tabs and the
 * variation selector of emoji stay as they are.
 */
const HIDDEN = /(?!\n|\t|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Formats a value as indented JSON. A string stays a string. */
export function formatValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/** Returns the beginning of a text in one line. */
export function firstLine(text: string, maxLength = 120): string {
  const line = text
    .slice(0, 4 * maxLength)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** Formats a number of listed items, such as `200+` if there are more of them. */
export const formatUpTo = (count: number, hasMore: boolean): string => `${count}${hasMore ? "+" : ""}`;
