import type { StopRequest, TaskIdentity } from "../../task.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import { toStopRequest, toTaskIdentity } from "./rows.ts";

/** Passes the stop requests of running tasks to the listener. */
export async function readStopRequests(reader: Reader, announce: (task: TaskIdentity, stop: StopRequest) => void): Promise<void> {
  for (const row of await reader.all(selectStopRequests)) {
    const stop = toStopRequest(row);
    if (stop !== null) announce(toTaskIdentity(row), stop);
  }
}

const selectStopRequests = toStatement(
  `SELECT seq, tenant, id, parent_id, agent_id, provider, stop_code AS code, stop_reason AS reason
   FROM task WHERE state = 'running' AND stop_code IS NOT NULL`,
);
