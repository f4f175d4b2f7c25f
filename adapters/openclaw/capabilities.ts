import type { GatewayCapabilities } from "#contract";
import type { OpenClawSettings } from "./settings.ts";

/** What tasks can have of OpenClaw; files only where they work in Bridge's workspaces. */
export function capabilitiesOf({ workspace }: Pick<OpenClawSettings, "workspace">): GatewayCapabilities {
  const hasFiles = workspace === "bridge";
  return {
    streaming: true,
    sessionResume: true,
    fileIo: hasFiles,
    mcpServers: true,
    tools: false,
    sandboxing: true,
    costTracking: true,
    management: true,
    approvals: true,
    cancellation: true,
    outputStrategies: hasFiles ? ["stream", "file", "structured"] : ["stream", "structured"],
  };
}
