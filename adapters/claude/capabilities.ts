import type { GatewayCapabilities } from "#contract";

/** What Claude Code can do, the same over both connections. */
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
