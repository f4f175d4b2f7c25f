import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import type { Step } from "../shared/agent-program/run-program.ts";
import type { FindEndpoint, ModelFetch } from "../shared/model-api/model-endpoint.ts";
import { createAuthorizedFetch } from "./authorized-fetch.ts";
import { explainGlooError } from "./failures.ts";
import { explainUnsupportedModel, parseModel } from "./routing.ts";
import { METADATA_KEY, type RoutingResult, routingExtractor } from "./routing-metadata.ts";
import { findClient, parseGlooSettings, readOptions } from "./settings.ts";
import { createTokenSource, type TokenClient, type TokenSource } from "./token-source.ts";

/** Creates the endpoint factory of one adapter, whose tasks share one token. */
export function createFindEndpoint(): FindEndpoint {
  const sources = new WeakMap<ProgramContext, TokenSource>();

  return (context) => {
    const client = findClient(context);
    if ("missing" in client) return client;
    const { baseUrl: configuredUrl, tokenUrl, model, tradition } = parseGlooSettings(context);
    const baseUrl = configuredUrl.replace(/\/+$/, "");
    const { shutdownSignal = new AbortController().signal } = context;

    const getTokenSource = (fetch: ModelFetch): TokenSource => {
      const tokens = sources.get(context) ?? createTokenSource({ ...client, tokenUrl, fetch, shutdownSignal } satisfies TokenClient);
      sources.set(context, tokens);
      return tokens;
    };
    const listSecrets = (): string[] => [client.clientSecret, sources.get(context)?.currentToken ?? ""];

    return {
      baseUrl,
      defaultModel: model,
      get secrets() {
        return listSecrets();
      },
      createModel(modelId, fetch, request) {
        const fields = createRequestFields(modelId, request, tradition);
        const provider = createOpenAICompatible({
          name: METADATA_KEY,
          baseURL: baseUrl,
          includeUsage: true,
          fetch: createAuthorizedFetch(getTokenSource(fetch), fetch),
          transformRequestBody: ({ model: _, ...body }) => ({ ...body, ...fields }),
          metadataExtractor: routingExtractor,
        });
        return provider(modelId);
      },
      unsupportedReason(modelId, request) {
        const options = readOptions(request);
        return typeof options === "string" ? options : explainUnsupportedModel(modelId, request);
      },
      readMetadata: (metadata) => createRoutingSteps((metadata?.[METADATA_KEY] ?? {}) as RoutingResult),
      // Gloo has no free request that checks a model. The probe checks that the client gets a token and that the endpoint answers.
      async probe(fetch, signal) {
        await getTokenSource(fetch).getToken(signal);
        const { ok, status } = await fetch(`${baseUrl}/chat/completions`, { signal });
        return new Response(null, { status: ok || status < 500 ? 204 : status });
      },
      explainError: (error) => explainGlooError(error, listSecrets()),
    };
  };
}

/** Builds the fields of a request that are specific to Gloo: routing, and options from the dispatch or else from the settings. */
function createRequestFields(modelId: string, request: ExecutionRequest, defaultTradition: string | undefined): Record<string, unknown> {
  const options = readOptions(request);
  const { tradition = defaultTradition, temperature, maxTokens } = typeof options === "string" ? {} : options;
  return {
    ...parseModel(modelId),
    ...(tradition !== undefined && { tradition }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  };
}

function createRoutingSteps(routing: RoutingResult): Step[] {
  const { model } = routing;
  return [
    ...(model === undefined ? [] : [{ kind: "facts", facts: { model } } as const]),
    ...(Object.keys(routing).length === 0 ? [] : [{ kind: "progress", data: { routing } } as const]),
  ];
}
