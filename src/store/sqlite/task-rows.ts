import type { ListedTask, TaskProgress, TaskState } from "../../task.ts";
import { toTaskIdentity } from "./event-operations.ts";
import type { Row } from "./sqlite-driver.ts";

/** The columns of `toTaskProgress`. */
export const progressColumns = "seq, tenant, id, parent_id, agent_id, provider, state, created_at, started_at, finished_at";

/** The columns of `toListedTask`. */
export const listedColumns = `${progressColumns}, metadata`;

/** A task row without the columns that may be long. */
export const toTaskProgress = (row: Row): TaskProgress => ({
  ...toTaskIdentity(row),
  state: row["state"] as TaskState,
  createdAt: Number(row["created_at"]),
  startedAt: row["started_at"] as number | null,
  finishedAt: row["finished_at"] as number | null,
});

/** A task row as lists return it. */
export const toListedTask = (row: Row): ListedTask => ({
  ...toTaskProgress(row),
  metadata: row["metadata"] === null ? null : (JSON.parse(String(row["metadata"])) as Record<string, unknown>),
});
