import type { Store } from "../store.ts";
import type { UsageDimension } from "../usage-records.ts";
import { sumColumns, toUsageSum, usageSources } from "../usage-sums.ts";
import type { Statement } from "./connection.ts";
import type { Reader } from "./reader-pool.ts";
import { toStatement } from "./to-statement.ts";

/** Reads the hourly rollup of usage. */
export function createUsageReads(reader: Reader) {
  return {
    sumUsage: async (tenant, hours, by) => (await reader.all(selectSums[by], hours, tenant)).map(toUsageSum),
  } satisfies Partial<Store>;
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
