import type { GatewayCapabilities } from "#contract";

/** What OpenCode can do over its server. */
export const capabilities: GatewayCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: false,
  sandboxing: true,
  costTracking: true,
  management: false,
  approvals: true,
  cancellation: true,
  outputStrategies: ["stream", "file", "structured"],
};
