import type { TaskRequest } from "../../task.ts";
import type { AgentFile } from "../../workspaces/prompt-files.ts";

/** Timeout of a task if neither the dispatch nor agent.json sets one. */
const DEFAULT_TIMEOUT_SECONDS = 600;

/** The model of a task; undefined for the default of its runtime. */
export const resolveModel = (request: Pick<TaskRequest, "model">, agent: AgentFile): string | undefined => request.model ?? agent.model;

/** The time limit of a task. */
export const resolveTimeoutSeconds = (request: Pick<TaskRequest, "timeoutSeconds">, agent: AgentFile): number =>
  request.timeoutSeconds ?? agent.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
