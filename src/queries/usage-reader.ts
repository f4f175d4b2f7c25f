import { setImmediate as nextTurn } from "node:timers/promises";
import { createTurns } from "@hak2i/async-kit";
import type { Store } from "../store/store.ts";
import {
  addCounts,
  noCounts,
  type UsageCounts,
  type UsageDimension,
  type UsageParts,
  type UsageSplit,
  type UsageSum,
} from "../store/usage/interface.ts";
import { HOUR_MS, KEPT_HOURS, OTHER } from "../store/usage/rows.ts";

export type { UsageCounts } from "../store/usage/interface.ts";
export { usageSplits } from "../store/usage/interface.ts";

/** The windows that end with the current hour or day, in hours. Those of days begin at midnight UTC. */
export const usageWindows = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24, "365d": 365 * 24 } as const;
export type UsageWindow = keyof typeof usageWindows;
/** The longest range, in days: the rollup has no older hours. */
export const MAX_RANGE_DAYS = KEPT_HOURS / 24;

/** A range of time in ms since the epoch, without `to`. Usage is summed by hours, so a range grows to whole hours. */
export interface UsageRange {
  from: number;
  to: number;
}

/** By what usage is grouped. */
export const usageGroupings = ["hour", "day", "provider", "agent", "model", "label"] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

const DAY_HOURS = 24;
/** Hours that one read adds up. SQLite blocks the event loop meanwhile. */
const HOURS_AT_ONCE = DAY_HOURS;
/** Maximum groups that are kept in memory. The latest hours are read first, so older groups become part of the rest. */
const MAX_GROUPS = 5_000;

/** One group; its key is a time in ms since the epoch for hours and days, and null for an unknown model. */
export interface UsageGroup {
  key: string | number | null;
  counts: UsageCounts;
  /** The parts of a split hour or day that are not empty, in the order of their sums over all hours. */
  parts?: { key: string | null; counts: UsageCounts }[];
  /** All further parts of a split hour or day; null if there are none. */
  otherParts?: UsageCounts | null;
}

/** What the tasks that ended in a window or range have used. */
export interface Usage extends UsageRange {
  /** Each task once. */
  total: UsageCounts;
  /** Hours and days in order, also those without tasks; others by cost, then by their number of tasks. */
  groups: UsageGroup[];
  /** All other groups; null if there are none. */
  other: UsageCounts | null;
}

export type UsageReader = ReturnType<typeof createUsageReader>;

/** Creates the reader of the hourly rollup of usage. */
export function createUsageReader(store: Pick<Store, "sumUsage" | "sumUsageParts">, clock = Date.now) {
  // Serializes the requests of one tenant, because each of them can read many rows.
  const turns = createTurns();

  /** Passes the sums to `add`, the latest hours first. */
  async function read(
    { tenant, signal }: Asker,
    { hours, by, parts }: { hours: readonly number[]; by: UsageDimension; parts?: UsageParts },
    add: (sum: UsageSum) => void,
  ) {
    for (let end = hours.length; end > 0; end -= HOURS_AT_ONCE) {
      const part = hours.slice(Math.max(0, end - HOURS_AT_ONCE), end);
      const sums = parts === undefined ? store.sumUsage(tenant, part, by) : store.sumUsageParts(tenant, part, parts);
      for (const sum of await sums) add(sum);
      await nextTurn();
      signal?.throwIfAborted();
    }
  }

  async function sumTimes(asker: Asker, { hours, dayStart }: Hours, by: "hour" | "day"): Promise<Sums> {
    const startOf = startOfTime(by, dayStart);
    const times = new Map(hours.map((hour) => [startOf(hour), noCounts()]));
    const total = noCounts();
    await read(asker, { hours, by: "hour" }, ({ key, counts }) => {
      addCounts(times.get(startOf(Number(key))) ?? noCounts(), counts);
      addCounts(total, counts);
    });
    return { total, groups: [...times].map(([hour, counts]) => ({ key: hour * HOUR_MS, counts })), other: null };
  }

  /** Reads the hours twice, so that only the largest parts are kept in memory. */
  async function sumParts(asker: Asker, { hours, dayStart }: Hours, { by, split, limit }: SplitQuery): Promise<Sums> {
    const startOf = startOfTime(by, dayStart);
    const largest = (await sumGroups(asker, hours, { by: split, limit })).groups;
    const keys = largest.map(({ key }) => String(key ?? ""));
    const times = new Map(hours.map((hour) => [startOf(hour), { counts: noCounts(), parts: new Map<string, UsageCounts>() }]));
    const total = noCounts();
    await read(asker, { hours, by: "hour", parts: { by: split, keys } }, ({ key, part = OTHER, counts }) => {
      const time = times.get(startOf(Number(key)));
      addCounts(total, counts);
      if (time === undefined) return;
      addCounts(time.counts, counts);
      const known = time.parts.get(part);
      if (known === undefined) time.parts.set(part, { ...counts });
      else addCounts(known, counts);
    });
    const groups = [...times].map(([hour, { counts, parts }]) => ({
      ...{ key: hour * HOUR_MS, counts, otherParts: parts.get(OTHER) ?? null },
      parts: keys.flatMap((key) => {
        const partCounts = parts.get(key);
        return partCounts === undefined ? [] : [{ key: key === "" ? null : key, counts: partCounts }];
      }),
    }));
    return { total, groups, other: null };
  }

  async function sumGroups(asker: Asker, hours: readonly number[], { by, limit }: { by: Exclude<UsageDimension, "hour">; limit: number }) {
    const found = new Map<string, UsageCounts>();
    const [total, rest] = [noCounts(), noCounts()];
    await read(asker, { hours, by }, ({ key, counts }) => {
      addCounts(total, counts);
      const known = found.get(key);
      if (known !== undefined) addCounts(known, counts);
      else if (found.size < MAX_GROUPS && !isOther(by, key)) found.set(key, { ...counts });
      else addCounts(rest, counts);
    });
    const sorted = [...found].sort(compareGroups);
    for (const [, counts] of sorted.slice(limit)) addCounts(rest, counts);
    return {
      total,
      groups: sorted.slice(0, limit).map(([key, counts]) => ({ key: key === "" ? null : key, counts })),
      other: countTasks(rest) === 0 ? null : rest,
    };
  }

  return {
    /**
     * Adds up what the tasks of a tenant have used. At most `limit` groups are returned, except hours and days. Rejects with the reason of
     * the signal if it aborts.
     */
    read(tenant: string, { window, by, limit, split }: UsageQuery, signal?: AbortSignal): Promise<Usage> {
      const asker = { tenant, signal };
      const sum = async (): Promise<Usage> => {
        const now = clock();
        const asked = typeof window === "string" ? hoursOfWindow(window, now) : hoursOfRange(window);
        const { hours } = asked;
        const range = { from: (hours[0] ?? 0) * HOUR_MS, to: Math.min(now, ((hours.at(-1) ?? 0) + 1) * HOUR_MS) };
        if (by === "hour" || by === "day")
          return { ...range, ...(await (split === undefined ? sumTimes(asker, asked, by) : sumParts(asker, asked, { by, split, limit }))) };
        const sums = { ...range, ...(await sumGroups(asker, hours, { by, limit })) };
        // A task can have several labels, or none.
        return by === "label" ? { ...sums, total: (await sumTimes(asker, asked, "day")).total } : sums;
      };
      return turns.take(tenant, sum, signal);
    },
  };
}

/** A tenant, and the signal that aborts when its client disconnects. */
interface Asker {
  tenant: string;
  signal: AbortSignal | undefined;
}

interface UsageQuery {
  window: UsageWindow | UsageRange;
  by: UsageGrouping;
  limit: number;
  /** Splits hours and days into at most `limit` parts. */
  split?: UsageSplit | undefined;
}

interface SplitQuery {
  by: "hour" | "day";
  split: UsageSplit;
  limit: number;
}

type Sums = Pick<Usage, "total" | "groups" | "other">;

/** Consecutive hours since the epoch, and one hour at which a day begins. */
interface Hours {
  hours: readonly number[];
  dayStart: number;
}

/** The hours of a window that contains this time. */
function hoursOfWindow(window: UsageWindow, now: number): Hours {
  const last = Math.floor(now / HOUR_MS);
  const length = usageWindows[window];
  const first = length === DAY_HOURS ? last - length + 1 : last - (last % DAY_HOURS) - length + DAY_HOURS;
  return { hours: listHours(first, last), dayStart: 0 };
}

/** The hours that a range touches. Its days begin at the same time of the day as the range, so that local days can be read. */
function hoursOfRange({ from, to }: UsageRange): Hours {
  const first = Math.floor(from / HOUR_MS);
  return { hours: listHours(first, Math.ceil(to / HOUR_MS) - 1), dayStart: first };
}

/** The first hour of the hour or day that contains an hour. */
function startOfTime(by: "hour" | "day", dayStart: number): (hour: number) => number {
  const size = by === "hour" ? 1 : DAY_HOURS;
  return (hour) => hour - ((((hour - dayStart) % size) + size) % size);
}

const listHours = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index);

const isOther = (by: UsageDimension, key: string): boolean => key === (by === "label" ? `${OTHER}=${OTHER}` : OTHER);

/** The number of tasks that have ended. */
export const countTasks = ({ completed, failed, cancelled }: UsageCounts): number => completed + failed + cancelled;

function compareGroups([aKey, a]: [string, UsageCounts], [bKey, b]: [string, UsageCounts]): number {
  return b.cost_micros - a.cost_micros || countTasks(b) - countTasks(a) || (aKey < bKey ? -1 : 1);
}
