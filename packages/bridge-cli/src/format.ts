import type { CostSource } from "bridge-client";

/** Formats of numbers and times for people. An unknown value is `-`, never 0. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration: `850 ms`, `1.2 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** Formats a time relative to now: `5 s ago`, `in 3 min`. */
export function formatRelative(iso: string | null | undefined, now = Date.now()): string {
  if (iso === null || iso === undefined) return "-";
  const ms = now - Date.parse(iso);
  const text = formatAmount(Math.abs(ms));
  if (text === null) return "now";
  return ms < 0 ? `in ${text}` : `${text} ago`;
}

function formatAmount(ms: number): string | null {
  if (ms < SECOND_MS) return null;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** Formats a cost in US dollars; small costs have two significant digits. */
export function formatCost(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "-";
  return usd === 0 || usd >= 0.1 ? `$${usd.toFixed(2)}` : `$${usd.toPrecision(2)}`;
}

/** Describes where a cost comes from; empty if it is unknown. */
export function describeSource(source: CostSource | null | undefined): string {
  // An earlier version of Bridge sends none.
  if (source === null || source === undefined) return "";
  return source === "runtime" ? "reported by the runtime" : "computed from prices";
}

/** Formats a sum of costs. A sum that lacks unknown costs ends with `+ ?`, and `?` means that all are unknown. */
export function formatCostSum({ costUsd, tasksWithoutCost }: { costUsd: number | null; tasksWithoutCost: number }): string {
  if (costUsd === null) return "?";
  return tasksWithoutCost > 0 ? `${formatCost(costUsd)} + ?` : formatCost(costUsd);
}

/** Formats a count with separators of thousands. */
export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? "-" : count.toLocaleString("en-US");
}

/** Formats the labels of a task. */
export const formatLabels = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
