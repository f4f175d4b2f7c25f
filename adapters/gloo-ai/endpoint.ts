import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import type { Step } from "../shared/agent-program/run-program.ts";
import type { FindEndpoint, ModelFetch } from "../shared/model-api/model-endpoint.ts";
import { createAuthorisedFetch } from "./authorized-fetch.ts";
import { explainGlooError } from "./failures.ts";
import { obstacleToModel, routingOf } from "./routing.ts";
import { metadataKey, type Routed, routingExtractor } from "./routing-metadata.ts";
import { findClient, glooSettingsOf, readOptions } from "./settings.ts";
import { createTokenSource, type TokenClient, type TokenSource } from "./token-source.ts";

/** Makes the endpoint of one adapter, which holds one token for all of its tasks. */
export function createFindEndpoint(): FindEndpoint {
  const sources = new WeakMap<ProgramContext, TokenSource>();

  return (context) => {
    const client = findClient(context);
    if ("missing" in client) return client;
    const { baseUrl: given, tokenUrl, model, tradition } = glooSettingsOf(context);
    const baseUrl = given.replace(/\/+$/, "");
    const { closed = new AbortController().signal } = context;

    const tokensBy = (fetch: ModelFetch): TokenSource => {
      const tokens = sources.get(context) ?? createTokenSource({ ...client, tokenUrl, fetch, closed } satisfies TokenClient);
      sources.set(context, tokens);
      return tokens;
    };
    const secrets = (): string[] => [client.clientSecret, sources.get(context)?.held ?? ""];

    return {
      baseUrl,
      defaultModel: model,
      get secrets() {
        return secrets();
      },
      createModel(modelId, fetch, request) {
        const fields = fieldsOf(modelId, request, tradition);
        const provider = createOpenAICompatible({
          name: metadataKey,
          baseURL: baseUrl,
          includeUsage: true,
          fetch: createAuthorisedFetch(tokensBy(fetch), fetch),
          transformRequestBody: ({ model: _, ...body }) => ({ ...body, ...fields }),
          metadataExtractor: routingExtractor,
        });
        return provider(modelId);
      },
      obstacleTo(modelId, request) {
        const options = readOptions(request);
        return typeof options === "string" ? options : obstacleToModel(modelId, request);
      },
      readMetadata: (metadata) => tellRouting((metadata?.[metadataKey] ?? {}) as Routed),
      // There is nothing to ask of the models that costs nothing: the client is good when it gets a token, the endpoint when it answers.
      async probe(fetch, signal) {
        await tokensBy(fetch).take(signal);
        const { ok, status } = await fetch(`${baseUrl}/chat/completions`, { signal });
        return new Response(null, { status: ok || status < 500 ? 204 : status });
      },
      explainError: (error) => explainGlooError(error, secrets()),
    };
  };
}

/** What a request says beside its messages: how the model is chosen, and what the dispatch or else the settings say to Gloo alone. */
function fieldsOf(modelId: string, request: ExecutionRequest, usualTradition: string | undefined): Record<string, unknown> {
  const options = readOptions(request);
  const { tradition = usualTradition, temperature, maxTokens } = typeof options === "string" ? {} : options;
  return {
    ...routingOf(modelId),
    ...(tradition !== undefined && { tradition }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  };
}

function tellRouting(routed: Routed): Step[] {
  const { model } = routed;
  return [
    ...(model === undefined ? [] : [{ kind: "known", facts: { model } } as const]),
    ...(Object.keys(routed).length === 0 ? [] : [{ kind: "progress", data: { routing: routed } } as const]),
  ];
}
