import type { GatewayCapabilities } from "#contract";

/** What the most capable agent program can do; each says in what its own falls short of it. */
export const programCapabilities: GatewayCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: true,
  sandboxing: true,
  costTracking: true,
  management: false,
  approvals: true,
  cancellation: true,
  outputStrategies: ["stream", "file", "structured"],
};
