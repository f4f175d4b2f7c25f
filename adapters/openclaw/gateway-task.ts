import type { AdapterConfig, AdapterLogger, ExecutionRequest } from "#contract";
import type { TaskTimeline } from "../shared/agent-program/task-timeline.ts";
import type { OfferedTools } from "../shared/declared-tools/offered-tools.ts";
import type { Gateway } from "./gateway.ts";
import type { OpenClawSettings } from "./settings.ts";
import type { TaskMcpServers } from "./task-mcp-servers.ts";

/** One task on its way through the gateway. */
export interface GatewayTask {
  request: ExecutionRequest;
  /** Its session. */
  key: string;
  gateway: Gateway;
  settings: OpenClawSettings;
  servers: TaskMcpServers;
  timeline: TaskTimeline;
  /** The declared tools of the task, which are one of its MCP servers. Absent: there are none. */
  offeredTools?: OfferedTools;
  /** Aborted when the task is to stop. */
  signal: AbortSignal;
  logger: AdapterLogger;
  requestApproval: AdapterConfig["requestApproval"];
}
