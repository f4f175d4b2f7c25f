import type { AdapterCapabilities } from "#contract";

/** All capabilities of an agent program. Each adapter overrides those that its program does not have. */
export const programCapabilities: AdapterCapabilities = {
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
  reportsTools: true,
  outputStrategies: ["stream", "file", "structured"],
};
