import type { AdapterCapabilities } from "#contract";
import type { OpenClawSettings } from "./settings.ts";

/** Returns the capabilities of OpenClaw. File operations require that tasks run in Bridge's workspaces. */
export function createCapabilities({ workspace, url }: Pick<OpenClawSettings, "workspace" | "url">): AdapterCapabilities {
  const hasFiles = workspace === "bridge";
  return {
    streaming: true,
    sessionResume: true,
    fileIo: hasFiles,
    mcpServers: true,
    // Bridge serves declared tools on its loopback interface, which only a gateway on the same host can reach.
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
