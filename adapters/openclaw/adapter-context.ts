import type { AdapterConfig } from "#contract";
import type { CallStore } from "../shared/declared-tools/call-store.ts";
import type { CommandSweep } from "./command-sweep.ts";
import type { Gateway } from "./gateway.ts";
import type { SessionKeys } from "./session-keys.ts";
import type { OpenClawSettings } from "./settings.ts";
import type { TaskMcpServers } from "./task-mcp-servers.ts";

/** The state that the parts of the adapter share between `initialize()` and `shutdown()`. */
export interface AdapterContext {
  config: AdapterConfig;
  settings: OpenClawSettings;
  gateway: Gateway;
  keys: SessionKeys;
  servers: TaskMcpServers;
  openCalls: CallStore;
  /** Null if tasks do not run in Bridge's workspaces. */
  commands: CommandSweep | null;
}
