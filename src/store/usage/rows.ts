import type { StoredRow } from "../tasks/rows.ts";
import { type UsageCounts, type UsageDimension, type UsageSplit, type UsageSum, usageCounts } from "./interface.ts";
import { OTHER } from "./rollup.ts";

/** The table of each dimension, and the SQL of its key. */
export const usageSources: Readonly<Record<UsageDimension, { table: string; key: string }>> = {
  hour: { table: "usage_hour", key: "u.hour" },
  provider: { table: "usage_hour", key: "u.provider" },
  agent: { table: "usage_hour", key: "u.agent_id" },
  model: { table: "usage_hour", key: "u.model" },
  label: { table: "usage_hour_label", key: "u.name || '=' || u.value" },
};

/** The columns of `toUsageSum`, except the key. Sums are floating-point numbers, so that they cannot overflow. */
export const sumColumns = usageCounts.map((name) => `sum(CAST(u.${name} AS double precision)) AS ${name}`).join(", ");

/** The SQL of the part of a split sum. `isKept` is a condition on the key. */
export const partColumn = (by: UsageSplit, isKept: (key: string) => string): string =>
  `CASE WHEN ${isKept(usageSources[by].key)} THEN ${usageSources[by].key} ELSE '${OTHER}' END AS part`;

/** A row of sums. */
export const toUsageSum = (row: StoredRow): UsageSum => ({
  key: String(row["key"]),
  ...(typeof row["part"] === "string" && { part: row["part"] }),
  counts: Object.fromEntries(usageCounts.map((name) => [name, Number(row[name])])) as UsageCounts,
});
