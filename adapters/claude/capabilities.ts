import type { GatewayCapabilities } from "#contract";

/** What Claude Code can do over ACP. */
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

/** Over `cli` nobody can be asked while it runs. */
export const cliCapabilities: GatewayCapabilities = { ...capabilities, approvals: false };
