import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import type { AdapterCapabilities, ExecutionAdapter, ExecutionRequest } from "#contract";
import { AcpFailure } from "../shared/acp/acp-failure.ts";
import type { AcpProfile } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import { listResumeMethods } from "../shared/acp/open-session.ts";
import type { AgentProgram, Credentials, ProgramConnection, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { lookUpProgram } from "../shared/agent-program/look-up-program.ts";
import { createProgramEnvironment } from "../shared/agent-program/program-environment.ts";
import { formatPrompt } from "../shared/agent-program/prompt.ts";
import type { AcpAgent } from "./settings.ts";
import { findToolName } from "./tool-name.ts";
import { readUsage } from "./usage.ts";

/**
 * Creates the adapter for an agent that implements the Agent Client Protocol. `name` is the name of the agent in a dispatch.
 * `probeSeconds` limits the time of its probe.
 */
export function createAcpAgentAdapter(name: string, agent: AcpAgent, probeSeconds?: number): Required<ExecutionAdapter> {
  const program: AgentProgram = {
    provider: name,
    connections: [hideProgramPath(createAcpConnection(createProfile(agent)), agent)],
    findCredentials: async (_connection, _argv, context) => describeCredentials(agent, context),
    multiAgent: "depends on the agent; any sub-agents run in the task's process with the task's permissions",
    timeoutMultiplier: 1,
  };
  const adapter = createProgramAdapter(program);
  const { home, env } = agent;
  return {
    ...adapter,
    initialize: (config) => adapter.initialize({ ...config, settings: { probeSeconds, ...config.settings, home, env } }),
  };
}

function createProfile({ command: [program = "", ...args], modes, authMethod }: AcpAgent): AcpProfile {
  const capabilities: AdapterCapabilities = {
    ...programCapabilities,
    // Bridge cannot prevent actions that the agent takes without asking for permission.
    sandboxing: false,
    // Nothing is known about an agent that the operator chooses.
    reportsTools: false,
    // Some agents report a cost, but Bridge cannot know in advance whether this one does.
    costTracking: false,
  };
  return {
    capabilities,
    // Before the agent answers `initialize`, Bridge assumes that it can resume sessions.
    onAnswer({ agentCapabilities }) {
      capabilities.sessionResume = listResumeMethods(agentCapabilities, { loadsSessions: true }).length > 0;
      // The caller sends the results of a call in the next task of the session.
      capabilities.tools = capabilities.sessionResume;
    },
    find(context) {
      const found = lookUpProgram(program, context, "Install it, or set its path in BRIDGE_ACP_AGENTS.");
      return "missing" in found ? found : { argv: [...found.argv, ...args] };
    },
    launch: (argv, { context }) => ({ argv, env: createProgramEnvironment(context, []) }),
    launchProbe: (argv, context) => ({ argv, env: createProgramEnvironment(context, []) }),
    ...(authMethod !== undefined && { authMethod }),
    loadsSessions: true,
    mode: ({ profile }) => modes[profile],
    configOptions: chooseModel,
    prompt: (request) => formatPrompt(request, request.systemPrompt),
    toolName: findToolName,
    mayInspect: (kind) => kind === "read" || kind === "search",
    // In a resumed session, some agents count the turn and others the whole session, so the usage is unknown.
    usageOf: (response, _tools, { resumeToken }) => (resumeToken === undefined ? readUsage(response) : undefined),
    costScope: "session",
  };
}

/**
 * Replaces the absolute path of the program in probe errors with the configured name, so that health reports do not reveal paths of this
 * host.
 */
function hideProgramPath(connection: ProgramConnection, { command: [name = ""] }: AcpAgent): ProgramConnection {
  return {
    ...connection,
    async probe(argv, context) {
      try {
        return await connection.probe(argv, context);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(message.replaceAll(argv[0] ?? name, name), { cause: error });
      }
    },
  };
}

/** Returns the session option that selects the requested model. Throws an `AcpFailure` if the agent offers no such option. */
function chooseModel({ model }: ExecutionRequest, options: readonly SessionConfigOption[]): Record<string, string> {
  if (model === undefined) return {};
  const option = options.find(({ category }) => category === "model") ?? options.find(({ id }) => id === "model");
  if (option !== undefined) return { [option.id]: model };
  throw new AcpFailure("adapter_error", "This agent does not support model selection over ACP. Omit `model`.");
}

function describeCredentials({ env: names }: AcpAgent, { env }: ProgramContext): Credentials {
  const unset = names.filter((name) => (env[name] ?? "") === "");
  const detail = unset.length === 0 ? "" : `; configured variables that are not set: ${unset.join(", ")}`;
  return { ok: true, detail: `managed by the agent${detail}` };
}
