import path from "node:path";
import type { Connection, ExecutionRequest, GatewayCapabilities } from "#contract";
import type { Credentials, ProgramConnection, ProgramContext } from "../agent-program/agent-program.ts";
import type { Outcome } from "../agent-program/run-program.ts";
import { createConversations } from "./conversations.ts";
import type { FindEndpoint, ModelEndpoint } from "./model-endpoint.ts";
import { ModelFailure, networkWords, originOf, redact } from "./model-failure.ts";
import { createModelHttp, faultInProxies } from "./model-http.ts";
import { converse, type ModelState } from "./run-model-task.ts";
import { modelSettingsOf } from "./settings.ts";

/** What a model can do that has a memory, and no tools. */
export const chatCapabilities: GatewayCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: false,
  mcpServers: false,
  tools: false,
  sandboxing: true,
  costTracking: false,
  management: false,
  approvals: false,
  cancellation: true,
  outputStrategies: ["stream", "structured"],
};

/** How models fare with several agents in one task. */
export const multiAgent = "none: one conversation with one model a task";

/** What a model can do that has tools and a memory. */
export const agentCapabilities: GatewayCapabilities = {
  ...chatCapabilities,
  mcpServers: true,
  tools: true,
  approvals: true,
};

/** One way to reach models. */
export interface ModelConnectionOptions {
  name: Connection;
  /** `chatCapabilities` or `agentCapabilities`; `costTracking` follows from the price table. */
  capabilities: GatewayCapabilities;
  findEndpoint: FindEndpoint;
}

/** A connection without a program: each task is a conversation with a model's endpoint. */
export interface ModelConnection extends ProgramConnection {
  /** For the `findCredentials` of the adapter: asks the endpoint, calls no model. */
  findCredentials(context: ProgramContext): Promise<Credentials>;
}

/**
 * Makes a connection that calls models: everything that is the same for all endpoints. It reads these settings of the adapter: `prices`,
 * `maxSteps`; what an endpoint needs it reads for itself.
 */
export function createModelConnection({ name, capabilities, findEndpoint }: ModelConnectionOptions): ModelConnection {
  const states = new WeakMap<ProgramContext, ModelState>();

  const stateOf = (context: ProgramContext): ModelState => {
    const state = states.get(context) ?? {
      http: createModelHttp(context),
      conversations: createConversations(path.join(context.dataDir, "conversations"), context.retentionDays),
    };
    states.set(context, state);
    return state;
  };
  const ask = async (endpoint: ModelEndpoint, context: ProgramContext): Promise<number> => {
    const { fetch } = stateOf(context).http;
    const signal = AbortSignal.any([AbortSignal.timeout(PROBE_LIMIT_MS), ...(context.closed === undefined ? [] : [context.closed])]);
    const response = await (endpoint.probe?.(fetch, signal) ?? fetch(`${endpoint.baseUrl}/models`, { signal }));
    await response.body?.cancel();
    return response.status;
  };

  return {
    name,
    capabilities,
    emptyAnswers: "accepted",
    hasOwnTools: true,
    multiAgent,
    configuredCapabilities: ({ settings }) => ({ costTracking: modelSettingsOf(settings).prices !== undefined }),

    find(context) {
      const endpoint = findEndpoint(context);
      if ("missing" in endpoint) return endpoint;
      const fault = faultInProxies(context);
      return fault === null ? { argv: [] } : { missing: fault };
    },

    async probe(_argv, context) {
      const endpoint = found(findEndpoint(context));
      try {
        await ask(endpoint, context);
      } catch (error) {
        // With the credentials something is wrong, with the endpoint nothing.
        if (!(error instanceof ModelFailure && error.errorCode === "authentication_required"))
          throw new Error(
            `${originOf(endpoint.baseUrl)} cannot be reached: ${probeWords(error, endpoint)}. Check the base URL and the network.`,
          );
      }
      return {
        version: null,
        detail: `${originOf(endpoint.baseUrl)} answers${endpoint.defaultModel === null ? "" : `; model ${endpoint.defaultModel}`}`,
      };
    },

    async findCredentials(context) {
      const endpoint = findEndpoint(context);
      if ("missing" in endpoint) return { ok: false, detail: endpoint.missing };
      const status = await ask(endpoint, context).catch(failureWords);
      if (typeof status === "string") return { ok: false, detail: status };
      if (status === 401 || status === 403)
        return { ok: false, detail: `${originOf(endpoint.baseUrl)} refuses the credentials (${status}). Check the API key.` };
      if (status < 300) return { ok: true, detail: "accepted by the endpoint" };
      if (status >= 500 || status === 429)
        return { ok: false, detail: `The endpoint answers ${status}; whether it takes the credentials is not known.` };
      return { ok: true, detail: `not checked: the endpoint has nothing to ask for without a model call (${status})` };
    },

    unsupportedReason: (request) => unsupportedReason(request, capabilities),

    async execute(task) {
      const endpoint = found(findEndpoint(task.context));
      const { request } = task;
      const modelId = request.model ?? endpoint.defaultModel;
      if (modelId === null)
        return failure(
          "adapter_error",
          "The dispatch names no model, and there is no default one: set `model`, or let the operator set the BRIDGE_…_MODEL of this adapter.",
        );
      const obstacle = endpoint.unsupportedReason?.(modelId, request) ?? null;
      if (obstacle !== null) return failure("adapter_error", obstacle);
      return await converse(task, { endpoint, modelId, capabilities, ...stateOf(task.context) });
    },

    sweep: (context) => stateOf(context).conversations.sweep(),

    async close(context) {
      await states.get(context)?.http.close();
      states.delete(context);
    },
  };
}

const PROBE_LIMIT_MS = 5_000;

/** What a task asks for that is not claimed. */
function unsupportedReason(
  { mcpServers = [], outputStrategy, resumeToken }: ExecutionRequest,
  claimed: GatewayCapabilities,
): string | null {
  if (mcpServers.length > 0 && !claimed.mcpServers) return "it has no MCP servers: dispatch without them.";
  if (!claimed.outputStrategies.includes(outputStrategy.type))
    return `it has no output of the type ${outputStrategy.type}: choose another.`;
  return resumeToken !== undefined && !claimed.sessionResume ? "it goes on with no session: dispatch without a resume token." : null;
}

/** Tasks and probes come only to a connection that was found. */
function found(endpoint: ReturnType<FindEndpoint>): ModelEndpoint {
  if ("missing" in endpoint) throw new Error(endpoint.missing);
  return endpoint;
}

/** What Bridge itself has found wrong with the credentials. */
function failureWords(error: unknown): string {
  if (error instanceof ModelFailure) return error.message;
  throw error;
}

function probeWords(error: unknown, { secrets }: ModelEndpoint): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${PROBE_LIMIT_MS / 1000} s`;
  return networkWords(error) ?? redact(error instanceof Error ? error.message : String(error), secrets);
}

const failure = (errorCode: NonNullable<Outcome["errorCode"]>, error: string): Outcome => ({ status: "error", errorCode, error });
