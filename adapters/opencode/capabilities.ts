import type { GatewayCapabilities } from "#contract";

/** What OpenCode can do. */
export const capabilities: GatewayCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: false,
  sandboxing: true,
  costTracking: true,
  management: false,
  approvals: false,
  cancellation: true,
  outputStrategies: ["stream", "file", "structured"],
};
