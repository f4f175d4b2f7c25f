import type { AdapterConfig, AdapterLogger, ExecutionRequest } from "#contract";
import type { TaskTimeline } from "../shared/agent-program/task-timeline.ts";
import type { OfferedTools } from "../shared/declared-tools/offered-tools.ts";
import type { Gateway } from "./gateway.ts";
import type { OpenClawSettings } from "./settings.ts";
import type { TaskMcpServers } from "./task-mcp-servers.ts";

/** A task that runs on the gateway, with the parts of the adapter that it uses. */
export interface GatewayTask {
  request: ExecutionRequest;
  /** Key of the task's session. */
  key: string;
  gateway: Gateway;
  settings: OpenClawSettings;
  servers: TaskMcpServers;
  timeline: TaskTimeline;
  /** The declared tools of the task, served as one of its MCP servers. Absent if it has none. */
  offeredTools?: OfferedTools;
  /** Aborted when the task must stop. */
  signal: AbortSignal;
  logger: AdapterLogger;
  requestApproval: AdapterConfig["requestApproval"];
}
