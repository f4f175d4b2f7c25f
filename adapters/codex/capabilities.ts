import type { GatewayCapabilities } from "#contract";

/** What Codex can do over ACP. Its sandbox holds commands and edits to the profile; it tells no cost. */
export const capabilities: GatewayCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: false,
  sandboxing: true,
  costTracking: false,
  management: false,
  approvals: false,
  cancellation: true,
  outputStrategies: ["stream", "file", "structured"],
};

/** Over `cli` each message comes as a whole. */
export const cliCapabilities: GatewayCapabilities = { ...capabilities, streaming: false };
