import type { StopRequest, TaskIdentity } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import { toColumns } from "../engines/postgres/columns.ts";
import type { OperationKind } from "../engines/postgres/operation-kind.ts";
import { toStopRequest } from "./rows.ts";

/** A task that should stop. */
interface Stop {
  task: TaskIdentity;
  stop: StopRequest;
}

/** Stores stop requests of running tasks. Returns the first request of each task; null if the task is not running. */
export const stopOperation: OperationKind<Stop, StopRequest | null> = {
  name: "stop",
  keyOf: ({ task }) => task.seq,
  isRepeatable: false,
  async run(inputs, transaction) {
    const running = inputs.filter(({ task }) => transaction.lockedTask(task.seq)?.state === "running");
    const rows = running.map(({ task, stop: { code, reason } }) => ({ seq: task.seq, code, reason: toColumnText(reason) }));
    const stored = rows.length === 0 ? [] : await transaction.query(storeStops, toColumns(["seq", "code", "reason"], rows));
    const stops = new Map(stored.map((row) => [Number(row["seq"]), toStopRequest(row)]));
    return inputs.map(({ task }) => ({ output: stops.get(task.seq) ?? null }));
  },
};

const storeStops = {
  name: "store_stops",
  text: `UPDATE task t SET stop_code = coalesce(t.stop_code, given.code),
      stop_reason = CASE WHEN t.stop_code IS NULL THEN given.reason ELSE t.stop_reason END
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (seq, code, reason) WHERE t.seq = given.seq
    RETURNING t.seq, t.stop_code AS code, t.stop_reason AS reason`,
};
