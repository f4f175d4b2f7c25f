import type { AdapterConfig, AdapterLogger, ExecutionRequest } from "#contract";
import type { TaskStory } from "../program/task-story.ts";
import type { Gateway } from "./gateway.ts";
import type { LentServers } from "./lent-servers.ts";
import type { OpenClawSettings } from "./settings.ts";

/** One task on its way through the gateway. */
export interface GatewayTask {
  request: ExecutionRequest;
  /** Its session. */
  key: string;
  gateway: Gateway;
  settings: OpenClawSettings;
  servers: LentServers;
  story: TaskStory;
  /** Aborted when the task is to stop. */
  signal: AbortSignal;
  logger: AdapterLogger;
  requestApproval: AdapterConfig["requestApproval"];
}
