import { type ModelMessage, experimental_streamTextLowMemory as streamText } from "ai";
import type { Connection, GatewayCapabilities } from "#contract";
import type { Credentials, Ending, ProgramConnection, ProgramContext, ProgramTask } from "../program/agent-program.ts";
import { tellStep, type Verdict } from "../program/run-program.ts";
import { createPartReader } from "./events.ts";
import type { FindEndpoint, ModelEndpoint } from "./model-endpoint.ts";
import { explainError, ModelFailure, originOf, redact } from "./model-failure.ts";
import { createModelHttp, type ModelHttp } from "./model-http.ts";
import { modelSettingsOf } from "./model-settings.ts";
import { costOf } from "./prices.ts";

/** What a plain model call can do: it speaks, and has no hands. */
export const plainCapabilities: GatewayCapabilities = {
  streaming: true,
  sessionResume: false,
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

/** One way to reach models. */
export interface ModelConnectionOptions {
  name: Connection;
  /** `plainCapabilities`, and what goes beyond: `costTracking` follows from the price table. */
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
  const https = new WeakMap<ProgramContext, ModelHttp>();

  const httpOf = (context: ProgramContext): ModelHttp => {
    const http = https.get(context) ?? createModelHttp(context);
    https.set(context, http);
    return http;
  };
  const ask = async (endpoint: ModelEndpoint, context: ProgramContext): Promise<number> => {
    const { fetch } = httpOf(context);
    const signal = AbortSignal.any([AbortSignal.timeout(PROBE_LIMIT_MS), ...(context.closed === undefined ? [] : [context.closed])]);
    const response = await (endpoint.probe?.(fetch, signal) ?? fetch(`${endpoint.baseUrl}/models`, { signal }));
    await response.body?.cancel();
    return response.status;
  };

  return {
    name,
    capabilities,
    claims: ({ settings }) => ({ costTracking: modelSettingsOf(settings).prices !== undefined }),

    find(context) {
      const endpoint = findEndpoint(context);
      return "missing" in endpoint ? endpoint : { argv: [] };
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

    async execute(task) {
      const endpoint = found(findEndpoint(task.context));
      const { request } = task;
      const modelId = request.model ?? endpoint.defaultModel;
      if (modelId === null) return failure("adapter_error", "The dispatch names no model, and there is no default one: set `model`.");
      const obstacle = endpoint.obstacleTo?.(modelId, request) ?? null;
      if (obstacle !== null) return failure("adapter_error", obstacle);
      return await converse(task, endpoint, modelId, httpOf(task.context));
    },

    async close(context) {
      await https.get(context)?.close();
      https.delete(context);
    },
  };
}

const PROBE_LIMIT_MS = 5_000;
/** One more try of a call that has not begun to answer: a kept connection may have been closed at the other end meanwhile. */
const RETRIES = 1;

// It would write to stdout, which is Bridge's log.
globalThis.AI_SDK_LOG_WARNINGS = false;

async function converse(task: ProgramTask, endpoint: ModelEndpoint, modelId: string, { fetch }: ModelHttp): Promise<Ending> {
  const { request, context, story, signal } = task;
  const explain = (error: unknown): Verdict => (signal.aborted ? cancelled : explainError(error, endpoint));
  let facts: Omit<Partial<Ending>, "status"> = {};
  let told: Verdict | null = null;
  try {
    const messages: ModelMessage[] = [{ role: "user", content: request.message }];
    const read = createPartReader(explain, endpoint.readMetadata);
    const result = streamText({
      model: endpoint.createModel(modelId, fetch, request),
      ...(request.systemPrompt !== undefined && { instructions: request.systemPrompt }),
      messages,
      maxRetries: RETRIES,
      abortSignal: signal,
      // It is told as a part of the stream, too.
      onError: () => {},
    });
    for await (const part of result.stream) {
      for (const step of read(part)) {
        if (step.kind === "known") facts = { ...facts, ...step.facts };
        else if (step.kind === "ended") told ??= step.ending;
        else tellStep(story, step);
      }
    }
  } catch (error) {
    told ??= explain(error);
  }
  const verdict = signal.aborted ? cancelled : (told ?? failure("model_error", "The model's answer ended before its end."));
  const { prices } = modelSettingsOf(context.settings);
  const model = facts.model ?? modelId;
  const costUsd = prices === undefined || facts.usage === undefined ? undefined : costOf(prices, [model, modelId], facts.usage);
  return { ...facts, model, ...(costUsd !== undefined && { costUsd }), ...verdict };
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
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === "TimeoutError") return `no answer within ${PROBE_LIMIT_MS / 1000} s`;
    const { code } = cause as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return redact(error instanceof Error ? error.message : String(error), secrets);
}

const failure = (errorCode: NonNullable<Verdict["errorCode"]>, error: string): Verdict => ({ status: "error", errorCode, error });
const cancelled = failure("cancelled", "The task was cancelled.");
