import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import type { ExecutionAdapter, ExecutionRequest, GatewayCapabilities } from "#contract";
import { AcpFailure } from "../shared/acp/acp-failure.ts";
import type { AcpProfile } from "../shared/acp/acp-profile.ts";
import { createAcpConnection } from "../shared/acp/create-acp-connection.ts";
import { resumeMethods } from "../shared/acp/open-session.ts";
import type { AgentProgram, Credentials, ProgramConnection, ProgramContext } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { createProgramAdapter } from "../shared/agent-program/create-program-adapter.ts";
import { programEnvironment } from "../shared/agent-program/program-environment.ts";
import { promptOf } from "../shared/agent-program/prompt.ts";
import { findProgram } from "../shared/process/find-program.ts";
import type { AcpAgent } from "./settings.ts";
import { toolName } from "./tool-name.ts";
import { readUsage } from "./usage.ts";

/** Runs tasks on any agent that speaks the Agent Client Protocol, under the name that the operator gave it. `probeSeconds` limits its probe. */
export function createAcpAgentAdapter(name: string, agent: AcpAgent, probeSeconds?: number): Required<ExecutionAdapter> {
  const program: AgentProgram = {
    provider: name,
    connections: [underItsName(createAcpConnection(profileOf(agent)), agent)],
    findCredentials: async (_connection, _argv, context) => describeCredentials(agent, context),
    multiAgent: "whatever the agent does by itself, in the task's process and rights",
    timeoutMultiplier: 1,
  };
  const adapter = createProgramAdapter(program);
  const { home, env } = agent;
  return {
    ...adapter,
    initialize: (config) => adapter.initialize({ ...config, settings: { probeSeconds, ...config.settings, home, env } }),
  };
}

function profileOf({ command: [program = "", ...args], modes, authMethod }: AcpAgent): AcpProfile {
  const capabilities: GatewayCapabilities = {
    ...programCapabilities,
    // What it does without asking nobody holds.
    sandboxing: false,
    // Told where the agent tells it, and nobody knows whether it will.
    costTracking: false,
  };
  return {
    capabilities,
    // Until then it is taken to go on with sessions.
    onAnswer({ agentCapabilities }) {
      capabilities.sessionResume = resumeMethods(agentCapabilities, { loadsSessions: true }).length > 0;
      // The results of a call come with the next task of its session.
      capabilities.tools = capabilities.sessionResume;
    },
    find({ env }) {
      const file = findProgram(program, env["PATH"] ?? "");
      if (file !== null) return { argv: [file, ...args] };
      return { missing: `${program} is not on the PATH: install it, or give its path in BRIDGE_ACP_AGENTS.` };
    },
    launch: (argv, { context }) => ({ argv, env: programEnvironment(context, []) }),
    launchProbe: (argv, context) => ({ argv, env: programEnvironment(context, []) }),
    ...(authMethod !== undefined && { authMethod }),
    loadsSessions: true,
    mode: ({ profile }) => modes[profile],
    configOptions: chooseModel,
    prompt: (request) => promptOf(request, request.systemPrompt),
    toolName,
    mayInspect: (kind) => kind === "read" || kind === "search",
    // What it counts in a session with earlier turns, the turn or all of them, each agent decides for itself.
    usageOf: (response, _tools, { resumeToken }) => (resumeToken === undefined ? readUsage(response) : undefined),
    costCounts: "session",
  };
}

/** Whoever may read how an agent is learns its program's name as the operator has written it, not where it lies on the machine. */
function underItsName(connection: ProgramConnection, { command: [name = ""] }: AcpAgent): ProgramConnection {
  return {
    ...connection,
    async probe(argv, context) {
      try {
        return await connection.probe(argv, context);
      } catch (error) {
        const words = error instanceof Error ? error.message : String(error);
        throw new Error(words.replaceAll(argv[0] ?? name, name), { cause: error });
      }
    },
  };
}

/** A model is an option of the session; an agent that has none chooses for itself. */
function chooseModel({ model }: ExecutionRequest, options: readonly SessionConfigOption[]): Record<string, string> {
  if (model === undefined) return {};
  const option = options.find(({ category }) => category === "model") ?? options.find(({ id }) => id === "model");
  if (option !== undefined) return { [option.id]: model };
  throw new AcpFailure("adapter_error", "This agent lets nobody choose its model over ACP: dispatch without a model.");
}

function describeCredentials({ env: names }: AcpAgent, { env }: ProgramContext): Credentials {
  const unset = names.filter((name) => (env[name] ?? "") === "");
  const detail = unset.length === 0 ? "" : `; of the variables that it gets, not set: ${unset.join(", ")}`;
  return { ok: true, detail: `left to the agent${detail}` };
}
