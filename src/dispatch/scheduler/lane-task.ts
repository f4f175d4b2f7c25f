import type { ClaimFilter } from "../../store/tasks/interface.ts";
import type { TaskIdentity } from "../../task.ts";

/** The fields of a task that the lanes use. `node` is the only node that may start it; absent or null if any may. */
export interface LaneTask extends Pick<TaskIdentity, "tenant" | "agentId" | "provider" | "parentTaskId"> {
  node?: string | null;
}

/** Child tasks start first and are not limited, because a running task waits for them. */
export const kindOf = (task: LaneTask): ClaimFilter["kind"] => (task.parentTaskId === null ? "dispatched" : "child");
