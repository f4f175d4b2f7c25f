import type { Statement } from "../engines/postgres/connection.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { UsageStore } from "./interface.ts";
import { type UsageDimension, type UsageSplit, usageSplits } from "./interface.ts";
import { partColumn, sumColumns, toUsageSum, usageSources } from "./rows.ts";

/** Reads the hourly rollup of usage. */
export function createUsageReads(reader: Reader) {
  return {
    sumUsage: async (tenant, hours, by) => (await reader.all(selectSums[by], hours, tenant)).map(toUsageSum),
    sumUsageParts: async (tenant, hours, { by, keys }) => (await reader.all(selectParts[by], hours, tenant, keys)).map(toUsageSum),
  } satisfies Partial<UsageStore>;
}

const selectSums = Object.fromEntries(
  Object.entries(usageSources).map(([by, { table, key }]) => [
    by,
    toStatement(
      `SELECT ${key} AS key, ${sumColumns} FROM unnest($1::bigint[]) AS given (hour)
       JOIN ${table} u ON u.hour = given.hour AND u.tenant = $2 GROUP BY 1`,
    ),
  ]),
) as Record<UsageDimension, Statement>;

const selectParts = Object.fromEntries(
  usageSplits.map((by) => [
    by,
    toStatement(
      `SELECT u.hour AS key, ${partColumn(by, (key) => `${key} = ANY ($3::text[])`)}, ${sumColumns}
       FROM unnest($1::bigint[]) AS given (hour) JOIN usage_hour u ON u.hour = given.hour AND u.tenant = $2 GROUP BY 1, 2`,
    ),
  ]),
) as Record<UsageSplit, Statement>;
