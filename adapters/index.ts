import type { AdapterFamily, Catalog, CatalogEntry } from "#contract";
import { acpAgentSettings, acpAgentSettingsSchema } from "./acp-agent/settings.ts";
import { claudeSettings } from "./claude/settings.ts";
import { claudeAgentSdkSettings } from "./claude-agent-sdk/settings.ts";
import { codexSettings } from "./codex/settings.ts";
import { commandSettings } from "./command/settings.ts";
import { councilInput } from "./council/input.ts";
import { councilSettings } from "./council/settings.ts";
import { geminiSettings } from "./gemini/settings.ts";
import { glooAiSettings } from "./gloo-ai/settings.ts";
import { openClawSettings } from "./openclaw/settings.ts";
import { openCodeSettings } from "./opencode/settings.ts";
import { responderInput } from "./responder/input.ts";
import { responderSettings } from "./responder/settings.ts";
import { findInstalledPrograms, type InstalledProgram, type ProgramSearch } from "./shared/agent-program/find-installed-programs.ts";
import { vercelAiSettings } from "./vercel-ai/settings.ts";

export { reportIsolatedError } from "./shared/agent-program/isolate-errors.ts";
export { createProgramEnvironment } from "./shared/agent-program/program-environment.ts";
export { getProcessLabels } from "./shared/process/process-labels.ts";
export { runProcess } from "./shared/process/run-process.ts";
export { createSandbox } from "./shared/process/sandbox.ts";
export { sweepLeftovers } from "./shared/process/sweep-processes.ts";

/** The adapters that ship with Bridge. Importing the catalog loads their settings but no runtime. */
export const catalog: Catalog = [
  { provider: "command", runsPrograms: true, settings: commandSettings, load: () => import("./command/index.ts") },
  {
    provider: "claude",
    vendor: "anthropic",
    settings: claudeSettings,
    hasProgram: true,
    runsPrograms: true,
    load: () => import("./claude/index.ts"),
  },
  {
    provider: "claude-agent-sdk",
    vendor: "anthropic",
    runsPrograms: true,
    settings: claudeAgentSdkSettings,
    load: () => import("./claude-agent-sdk/index.ts"),
  },
  {
    provider: "codex",
    vendor: "openai",
    settings: codexSettings,
    hasProgram: true,
    runsPrograms: true,
    load: () => import("./codex/index.ts"),
  },
  {
    provider: "gemini",
    vendor: "gcp.gemini",
    settings: geminiSettings,
    hasProgram: true,
    runsPrograms: true,
    load: () => import("./gemini/index.ts"),
  },
  { provider: "openclaw", runsPrograms: true, settings: openClawSettings, load: () => import("./openclaw/index.ts") },
  { provider: "opencode", settings: openCodeSettings, hasProgram: true, runsPrograms: true, load: () => import("./opencode/index.ts") },
  { provider: "gloo-ai", settings: glooAiSettings, load: () => import("./gloo-ai/index.ts") },
  { provider: "vercel-ai", settings: vercelAiSettings, load: () => import("./vercel-ai/index.ts") },
  createAcpFamily(),
  createPanelEntry("claude"),
  createPanelEntry("codex"),
  createPanelEntry("gemini"),
  createPanelEntry("opencode"),
  {
    provider: "deep-council",
    settings: councilSettings,
    input: councilInput,
    isWorkflow: true,
    load: async () => ({ createAdapter: (await import("./council/index.ts")).createDeepCouncilAdapter }),
  },
  {
    provider: "responder",
    settings: responderSettings,
    input: responderInput,
    isWorkflow: true,
    load: () => import("./responder/index.ts"),
  },
];

/** Creates the family of the agents that the operator configures in BRIDGE_ACP_AGENTS. */
function createAcpFamily(): AdapterFamily {
  return {
    prefix: "acp",
    settings: acpAgentSettings,
    find(name, settings) {
      const { agents, probeSeconds } = acpAgentSettingsSchema.parse(settings);
      const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
      if (agent === undefined) {
        const example = JSON.stringify({ [name || "goose"]: [name || "goose", "acp"] });
        return { missing: `no command is configured for acp:${name}; set BRIDGE_ACP_AGENTS, for example ${example}` };
      }
      return {
        async load() {
          const { createAcpAgentAdapter } = await import("./acp-agent/index.ts");
          return { createAdapter: () => createAcpAgentAdapter(name, agent, probeSeconds) };
        },
      };
    },
  };
}

/** Creates the entry of a council whose roles all run on one runtime. */
function createPanelEntry(runtime: string): CatalogEntry {
  return {
    provider: `bridge-${runtime}`,
    settings: councilSettings,
    input: councilInput,
    isWorkflow: true,
    async load() {
      const { createPanelAdapter } = await import("./council/index.ts");
      return { createAdapter: () => createPanelAdapter(runtime) };
    },
  };
}

/** Lists the domains of councils, including those of a workspace. Imports them on demand, because the catalog loads no runtime. */
export const listDomains = async (workspace: string | null) => (await import("./council/list-domains.ts")).listDomains(workspace);

/** Finds installed programs that an adapter of the catalog could run, but whose adapter is not enabled. */
export const findUnusedPrograms = (enabled: ReadonlySet<string>, search: ProgramSearch): Promise<InstalledProgram[]> =>
  findInstalledPrograms(
    catalog.flatMap((entry) => ("provider" in entry && entry.hasProgram === true && !enabled.has(entry.provider) ? [entry.provider] : [])),
    search,
  );
