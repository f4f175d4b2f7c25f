import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import { createRepositoryOperations as createOperations, removeOfTasks, removeUnused } from "./rows.ts";

/** Creates the operations of the repositories of tasks. */
export function createRepositoryOperations(driver: SqliteDriver, clock: () => number) {
  return {
    operations: createOperations({
      now: clock,
      all: async (sql, ...values) => driver.all(sql, ...values),
      write: (_, toStatements, options) =>
        driver.write(() => toStatements(clock()).reduce<Row[]>((_rows, [sql, ...values]) => driver.all(sql, ...values), []), options),
    }),
    removeOfTask: (seq: number): number => driver.run(removeOfTasks("= ?"), seq),
    removeExpired: (now: number): number => driver.all(...removeUnused(now)).length,
  };
}
