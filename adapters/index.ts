import type { AdapterModule } from "#contract";
import type { AcpAgent } from "./acp-agent/index.ts";
import { findInstalledPrograms, type InstalledProgram, type ProgramSearch } from "./shared/agent-program/find-installed-programs.ts";

export { reportIsolatedError } from "./shared/agent-program/isolate-errors.ts";
export { processLabels } from "./shared/process/process-labels.ts";
export { createSandbox } from "./shared/process/sandbox.ts";
export { sweepLeftovers } from "./shared/process/sweep-processes.ts";

/** The adapters that ship with Bridge, by provider; nothing of one is loaded before it is asked for. */
export const catalogue: Readonly<Record<string, () => Promise<AdapterModule>>> = {
  "bridge-claude": bridgeOn("claude"),
  "bridge-codex": bridgeOn("codex"),
  "bridge-gemini": bridgeOn("gemini"),
  "bridge-opencode": bridgeOn("opencode"),
  claude: () => import("./claude/index.ts"),
  "claude-agent-sdk": () => import("./claude-agent-sdk/index.ts"),
  codex: () => import("./codex/index.ts"),
  command: () => import("./command/index.ts"),
  "deep-council": async () => ({ createAdapter: (await import("./council/index.ts")).createDeepCouncilAdapter }),
  gemini: () => import("./gemini/index.ts"),
  "gloo-ai": () => import("./gloo-ai/index.ts"),
  openclaw: () => import("./openclaw/index.ts"),
  opencode: () => import("./opencode/index.ts"),
  responder: () => import("./responder/index.ts"),
  "vercel-ai": () => import("./vercel-ai/index.ts"),
};

/** A council of the roles of one runtime. */
function bridgeOn(runtime: string): () => Promise<AdapterModule> {
  return async () => {
    const { createBridgeAdapter } = await import("./council/index.ts");
    return { createAdapter: () => createBridgeAdapter(runtime) };
  };
}

/** The adapters of agents that only the operator knows, as `acp:<name>`. */
export const acpAgents = (agents: Readonly<Record<string, AcpAgent>>): typeof catalogue =>
  Object.fromEntries(
    Object.entries(agents).map(([name, agent]) => [
      `acp:${name}`,
      async () => {
        const { createAcpAgentAdapter } = await import("./acp-agent/index.ts");
        return { createAdapter: () => createAcpAgentAdapter(name, agent) };
      },
    ]),
  );

/** Adapters whose runtime is a program of the same name. */
const programs = ["claude", "codex", "gemini", "opencode"];

/** The programs on this machine that adapters of the catalogue could drive, but for those that are enabled. */
export const findUnusedPrograms = (enabled: ReadonlySet<string>, search: ProgramSearch): Promise<InstalledProgram[]> =>
  findInstalledPrograms(
    programs.filter((provider) => !enabled.has(provider)),
    search,
  );
