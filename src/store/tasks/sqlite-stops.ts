import type { StopRequest, TaskIdentity } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { TaskStore } from "./interface.ts";
import { toStopRequest } from "./rows.ts";

/** Creates the operations of stop requests. The process that runs a task receives them, and ends the task. */
export function createStopOperations(driver: SqliteDriver) {
  let announce: (task: TaskIdentity, stop: StopRequest) => void = () => {};

  return {
    async requestStopIfRunning(task, { code, reason }) {
      const stop = await driver.write(() => {
        if (driver.get("SELECT 1 AS running FROM task WHERE seq = ? AND state = 'running'", task.seq) === undefined) return null;
        driver.run(
          "INSERT INTO stop_request (task, code, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
          task.seq,
          code,
          toColumnText(reason),
        );
        return toStopRequest(driver.get("SELECT code, reason FROM stop_request WHERE task = ?", task.seq) as Row);
      });
      if (stop !== null) announce(task, stop);
      return stop !== null;
    },
    onStopRequests(listener) {
      announce = listener;
    },
  } satisfies Partial<TaskStore>;
}
