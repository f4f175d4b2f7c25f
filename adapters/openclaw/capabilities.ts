import type { GatewayCapabilities } from "#contract";
import type { OpenClawSettings } from "./settings.ts";

/** What tasks can have of OpenClaw; files only where they work in Bridge's workspaces. */
export function capabilitiesOf({ workspace, url }: Pick<OpenClawSettings, "workspace" | "url">): GatewayCapabilities {
  const hasFiles = workspace === "bridge";
  return {
    streaming: true,
    sessionResume: true,
    fileIo: hasFiles,
    mcpServers: true,
    // Bridge serves them on its own machine's loopback interface.
    tools: isLoopback(url),
    sandboxing: true,
    costTracking: true,
    management: true,
    approvals: true,
    cancellation: true,
    outputStrategies: hasFiles ? ["stream", "file", "structured"] : ["stream", "structured"],
  };
}

const isLoopback = (url: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
