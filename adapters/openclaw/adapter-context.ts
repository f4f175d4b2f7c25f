import type { AdapterConfig } from "#contract";
import type { CallStore } from "../shared/declared-tools/call-store.ts";
import type { CommandSweep } from "./command-sweep.ts";
import type { Gateway } from "./gateway.ts";
import type { SessionKeys } from "./session-keys.ts";
import type { OpenClawSettings } from "./settings.ts";
import type { TaskMcpServers } from "./task-mcp-servers.ts";

/** What the parts of the adapter work with, from its initialization to its shutdown. */
export interface AdapterContext {
  config: AdapterConfig;
  settings: OpenClawSettings;
  gateway: Gateway;
  keys: SessionKeys;
  servers: TaskMcpServers;
  openCalls: CallStore;
  /** Null: tasks do not work in Bridge's workspaces. */
  commands: CommandSweep | null;
}
