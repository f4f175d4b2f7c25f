import type { Statement } from "../engines/postgres/connection.ts";
import type { Transaction } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toColumns, toStatement } from "../engines/postgres/statements.ts";
import { type UsageDimension, type UsageSplit, type UsageStore, usageCounts, usageSplits } from "./interface.ts";
import { HOUR_MS, KEPT_HOURS, labelUsageKey, partColumn, sumColumns, toUsageSum, type UsageRows, usageKey, usageSources } from "./rows.ts";

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

/** Adds rows to the hourly rollup of usage of this node, with one statement for each table. */
export async function addUsage({ usage, labels }: UsageRows, node: string, transaction: Transaction): Promise<void> {
  await Promise.all([
    usage.length > 0 ? transaction.query(upsertUsage, [...toColumns([...usageKey, ...usageCounts], usage), node]) : null,
    labels.length > 0 ? transaction.query(upsertLabels, [...toColumns([...labelUsageKey, ...usageCounts], labels), node]) : null,
  ]);
}

/** A statement that adds the given rows, in their order, to those of the node. */
function toUpsert(name: string, { table, key }: { table: string; key: readonly string[] }): Statement {
  const columns = [...key, ...usageCounts];
  const isNumber = (column: string): boolean => column === "hour" || (usageCounts as readonly string[]).includes(column);
  return {
    name,
    text: `INSERT INTO ${table} AS u (${columns.join(", ")}, node)
      SELECT given.*, $${columns.length + 1}::text
      FROM unnest(${columns.map((column, index) => `$${index + 1}::${isNumber(column) ? "bigint" : "text"}[]`).join(", ")}) AS given
      ON CONFLICT (${[...key, "node"].join(", ")}) DO UPDATE SET ${usageCounts.map((count) => `${count} = u.${count} + excluded.${count}`).join(", ")}`,
  };
}

const upsertUsage = toUpsert("upsert_usage", { table: "usage_hour", key: usageKey });

const upsertLabels = toUpsert("upsert_label_usage", { table: "usage_hour_label", key: labelUsageKey });

/** Deletes the rows of the oldest hour of each table if it has expired. Only one node does, which holds the lock of retention. */
export async function removeExpiredUsage(transaction: Transaction): Promise<number> {
  const before = Math.floor(transaction.now / HOUR_MS) - KEPT_HOURS;
  const deleted = await Promise.all(removeOldest.map((statement) => transaction.query(statement, [before])));
  return deleted.reduce((rows, { length }) => rows + length, 0);
}

const removeOldest = ["usage_hour", "usage_hour_label"].map((table) => ({
  name: `prune_${table}`,
  text: `DELETE FROM ${table} WHERE hour = (SELECT min(hour) FROM ${table}) AND hour < $1 RETURNING 1 AS deleted`,
}));
