import { type EventType, toWellFormedJson } from "#contract";
import { type StoredRow, toTaskIdentity } from "../tasks/rows.ts";
import type { StoredEvent } from "./interface.ts";

/** The condition of events that count as progress of a task. */
export const isExecution = "type NOT LIKE 'callback.%'";

/** SQL conditions that select the events of each kind. */
export const taskEventConditions = {
  all: "true",
  execution: isExecution,
  toolCalls: "type IN ('tool.invoked', 'tool.completed')",
};

/** The columns of `toStoredEvent`, of the event `e` and its task `t`. */
export const eventColumns = "e.number, e.type, e.at, e.data, t.seq, t.tenant, t.id, t.parent_id, t.agent_id, t.provider";

/** An event row with the identity of its task. */
export const toStoredEvent = (row: StoredRow): StoredEvent => ({
  number: Number(row["number"]),
  task: toTaskIdentity(row),
  type: row["type"] as EventType,
  at: Number(row["at"]),
  // Earlier versions stored unpaired surrogates.
  data: toWellFormedJson(String(row["data"])),
});
