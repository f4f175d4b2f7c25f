import path from "node:path";
import type { AdapterCapabilities, Connection, ExecutionRequest } from "#contract";
import type { Credentials, ProgramConnection, ProgramContext } from "../agent-program/agent-program.ts";
import { failure } from "../process/failure.ts";
import { createConversations } from "./conversations.ts";
import type { FindEndpoint, ModelEndpoint } from "./model-endpoint.ts";
import { ModelFailure, networkErrorCode, originOf, redact } from "./model-failure.ts";
import { checkProxies, createModelHttp } from "./model-http.ts";
import { type ModelState, runModelTask } from "./run-model-task.ts";

/** Capabilities of a model with stored conversations and without tools. */
export const chatCapabilities: AdapterCapabilities = {
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
  reportsTools: true,
  holdsModelCalls: true,
  callsModels: true,
  outputStrategies: ["stream", "structured"],
};

/** Multi-agent support, for the preflight. */
export const multiAgent = "none: one conversation with one model per task";

/** Capabilities of a model with stored conversations and tools. */
export const agentCapabilities: AdapterCapabilities = {
  ...chatCapabilities,
  mcpServers: true,
  tools: true,
  approvals: true,
};

/** Options of a connection that calls models. */
export interface ModelConnectionOptions {
  name: Connection;
  /** `chatCapabilities` or `agentCapabilities`. */
  capabilities: AdapterCapabilities;
  findEndpoint: FindEndpoint;
}

/** A connection without a program: each task is a conversation with a model's endpoint. */
export interface ModelConnection extends ProgramConnection {
  /** Implements `findCredentials` of the adapter: sends a request to the endpoint without calling a model. */
  findCredentials(context: ProgramContext): Promise<Credentials>;
}

/**
 * Creates a connection that calls models. It uses the setting `maxSteps` of the adapter. An endpoint
 * reads its other settings itself.
 */
export function createModelConnection({ name, capabilities, findEndpoint }: ModelConnectionOptions): ModelConnection {
  const states = new WeakMap<ProgramContext, ModelState>();

  const stateOf = (context: ProgramContext): ModelState => {
    const state = states.get(context) ?? {
      http: createModelHttp(context),
      conversations: createConversations(path.join(context.filesDir, "conversations"), context.retentionDays),
    };
    states.set(context, state);
    return state;
  };
  const sendProbe = async (endpoint: ModelEndpoint, context: ProgramContext): Promise<number> => {
    const { fetch } = stateOf(context).http;
    const signal = AbortSignal.any([
      AbortSignal.timeout(PROBE_LIMIT_MS),
      ...(context.shutdownSignal === undefined ? [] : [context.shutdownSignal]),
    ]);
    const response = await (endpoint.probe?.(fetch, signal) ?? fetch(`${endpoint.baseUrl}/models`, { signal }));
    await response.body?.cancel();
    return response.status;
  };

  return {
    name,
    capabilities,
    emptyAnswers: "accepted",
    passesDeclaredTools: true,
    multiAgent,

    find(context) {
      const endpoint = findEndpoint(context);
      if ("missing" in endpoint) return endpoint;
      const fault = checkProxies(context);
      return fault === null ? { argv: [], server: originOf(endpoint.baseUrl) } : { missing: fault };
    },

    async probe(_argv, context) {
      const endpoint = requireEndpoint(findEndpoint(context));
      try {
        await sendProbe(endpoint, context);
      } catch (error) {
        // The endpoint can be reached. `findCredentials` reports the rejected credentials.
        if (!(error instanceof ModelFailure && error.errorCode === "authentication_required"))
          throw new Error(
            `${originOf(endpoint.baseUrl)} cannot be reached: ${describeProbeError(error, endpoint)}. Check the base URL and the network.`,
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
      const status = await sendProbe(endpoint, context).catch(readFailureMessage);
      if (typeof status === "string") return { ok: false, detail: status };
      if (status === 401 || status === 403)
        return { ok: false, detail: `${originOf(endpoint.baseUrl)} rejects the credentials (${status}). Check the API key.` };
      if (status < 300) return { ok: true, detail: "accepted by the endpoint" };
      if (status >= 500 || status === 429)
        return { ok: false, detail: `The endpoint returned HTTP ${status}, so the credentials could not be checked.` };
      return { ok: true, detail: `not checked: the endpoint offers no request that checks them without a model call (${status})` };
    },

    unsupportedReason: (request) => unsupportedReason(request, capabilities),

    async execute(task) {
      const endpoint = requireEndpoint(findEndpoint(task.context));
      const { request } = task;
      const modelId = request.model ?? endpoint.defaultModel;
      if (modelId === null)
        return failure(
          "adapter_error",
          "The task sets no model, and the adapter has no default. Set `model`, or set the BRIDGE_…_MODEL setting of this adapter.",
        );
      const reason = endpoint.unsupportedReason?.(modelId, request) ?? null;
      if (reason !== null) return failure("adapter_error", reason);
      return await runModelTask(task, { endpoint, modelId, capabilities, ...stateOf(task.context) });
    },

    sweep: (context) => stateOf(context).conversations.sweep(),

    async close(context) {
      await states.get(context)?.http.close();
      states.delete(context);
    },
  };
}

const PROBE_LIMIT_MS = 5_000;

/** Returns why the capabilities do not cover a request, and what to do; null if they do. */
function unsupportedReason(
  { mcpServers = [], outputStrategy, resumeToken }: ExecutionRequest,
  capabilities: AdapterCapabilities,
): string | null {
  if (mcpServers.length > 0 && !capabilities.mcpServers) return "this connection does not support MCP servers. Omit `mcpServers`.";
  if (!capabilities.outputStrategies.includes(outputStrategy.type))
    return `this connection does not support the output strategy "${outputStrategy.type}". Use another one.`;
  return resumeToken !== undefined && !capabilities.sessionResume ? "this connection cannot resume sessions. Omit `resumeToken`." : null;
}

/** Throws if the endpoint is missing. This cannot happen, because a connection is used only after its `find` found the endpoint. */
function requireEndpoint(endpoint: ReturnType<FindEndpoint>): ModelEndpoint {
  if ("missing" in endpoint) throw new Error(endpoint.missing);
  return endpoint;
}

/** Returns the message of a `ModelFailure`. Rethrows other errors. */
function readFailureMessage(error: unknown): string {
  if (error instanceof ModelFailure) return error.message;
  throw error;
}

function describeProbeError(error: unknown, { secrets }: ModelEndpoint): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${PROBE_LIMIT_MS / 1000} s`;
  return networkErrorCode(error) ?? redact(error instanceof Error ? error.message : String(error), secrets);
}
