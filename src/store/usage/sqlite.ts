import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import { type UsageStore, usageCounts } from "./interface.ts";
import {
  createUsageRollup,
  HOUR_MS,
  KEPT_HOURS,
  labelUsageKey,
  partColumn,
  sumColumns,
  type TaskEnd,
  toUsageSum,
  usageKey,
  usageSources,
} from "./rows.ts";

/** The operations on the hourly rollup of usage. The ends of one commit are added up in memory, and written as its last part. */
export function createUsageOperations(driver: SqliteDriver) {
  const rollup = createUsageRollup();
  let ends: TaskEnd[] = [];

  driver.attach({
    beforeCommit() {
      if (ends.length === 0) return;
      const { usage, labels } = rollup.sum(ends);
      for (const row of usage) driver.run(addUsage, ...[...usageKey, ...usageCounts].map((name) => row[name]));
      for (const row of labels) driver.run(addLabels, ...[...labelUsageKey, ...usageCounts].map((name) => row[name]));
    },
    afterCommit() {
      ends = [];
    },
    afterRollback() {
      ends = [];
    },
    mark() {
      const { length } = ends;
      return {
        undo() {
          ends.length = length;
        },
      };
    },
  });

  return {
    /** Adds an ended task, inside an operation that is already running. */
    add: (end: TaskEnd): void => void ends.push(end),
    /** Deletes the rows of the oldest hour if it has expired, inside an operation that is already running. */
    removeExpired(now: number): number {
      const before = Math.floor(now / HOUR_MS) - KEPT_HOURS;
      return removeOldest.reduce((rows, statement) => rows + driver.run(statement, before), 0);
    },
    operations: {
      sumUsage: async (tenant, hours, by) =>
        driver
          .all(
            `SELECT ${usageSources[by].key} AS key, ${sumColumns}
             FROM json_each(?) AS given CROSS JOIN ${usageSources[by].table} u ON u.hour = given.value AND u.tenant = ? GROUP BY 1`,
            JSON.stringify(hours),
            tenant,
          )
          .map(toUsageSum),
      sumUsageParts: async (tenant, hours, { by, keys }) =>
        driver
          .all(
            `SELECT u.hour AS key, ${partColumn(by, (key) => `${key} IN (SELECT value FROM json_each(?))`)}, ${sumColumns}
             FROM json_each(?) AS given CROSS JOIN usage_hour u ON u.hour = given.value AND u.tenant = ? GROUP BY 1, 2`,
            ...[JSON.stringify(keys), JSON.stringify(hours), tenant],
          )
          .map(toUsageSum),
    } satisfies Partial<UsageStore>,
  };
}

const toUpsert = (table: string, key: readonly string[]): string =>
  `INSERT INTO ${table} (${[...key, ...usageCounts].join(", ")}) VALUES (${[...key, ...usageCounts].map(() => "?").join(", ")})
   ON CONFLICT DO UPDATE SET ${usageCounts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;

const addUsage = toUpsert("usage_hour", usageKey);
const addLabels = toUpsert("usage_hour_label", labelUsageKey);

const removeOldest = ["usage_hour", "usage_hour_label"].map(
  (table) => `DELETE FROM ${table} WHERE hour = (SELECT min(hour) FROM ${table}) AND hour < ?`,
);
