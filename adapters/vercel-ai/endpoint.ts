import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { z } from "zod";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import type { ModelEndpoint, ModelFetch } from "../shared/model-api/model-endpoint.ts";
import { vercelAiSettingsSchema } from "./settings.ts";

const ANTHROPIC_URL = "https://api.anthropic.com/v1";
const ANTHROPIC_VERSION = "2023-06-01";

/** Returns the configured endpoint, or which setting is missing. */
export function findEndpoint({ settings }: ProgramContext): ModelEndpoint | { missing: string } {
  const { protocol, baseUrl, ...rest } = vercelAiSettingsSchema.parse(settings);
  const url = baseUrl?.replace(/\/+$/, "") ?? (protocol === "anthropic" ? ANTHROPIC_URL : undefined);
  if (url === undefined)
    return { missing: "no endpoint is configured. Set BRIDGE_VERCEL_AI_BASE_URL, for example http://127.0.0.1:11434/v1 for Ollama." };
  return protocol === "anthropic" ? createAnthropicEndpoint(url, rest) : createOpenAiEndpoint(url, rest);
}

type EndpointSettings = Pick<z.infer<typeof vercelAiSettingsSchema>, "apiKey" | "model" | "structuredOutput" | "toolImages">;

function createOpenAiEndpoint(baseUrl: string, { apiKey, model, structuredOutput, toolImages = false }: EndpointSettings): ModelEndpoint {
  return {
    ...commonFields(baseUrl, { apiKey, model }),
    structuredOutput,
    toolImages,
    createModel: (modelId, fetch) =>
      createOpenAICompatible({
        name: "endpoint",
        baseURL: baseUrl,
        ...(apiKey !== undefined && { apiKey }),
        // Endpoints report usage in a stream only on request.
        includeUsage: true,
        supportsStructuredOutputs: structuredOutput,
        supportsMultiPartToolContent: toolImages,
        fetch,
      })(modelId),
    probe: createProbe(baseUrl, apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
}

function createAnthropicEndpoint(baseUrl: string, { apiKey, model, structuredOutput, toolImages = true }: EndpointSettings): ModelEndpoint {
  return {
    ...commonFields(baseUrl, { apiKey, model }),
    structuredOutput,
    toolImages,
    // Without a key the SDK would read one from Bridge's environment.
    createModel: (modelId, fetch) => createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? "none", fetch })(modelId),
    probe: createProbe(baseUrl, { "anthropic-version": ANTHROPIC_VERSION, ...(apiKey !== undefined && { "x-api-key": apiKey }) }),
  };
}

const commonFields = (baseUrl: string, { apiKey, model }: Pick<EndpointSettings, "apiKey" | "model">) => ({
  baseUrl,
  defaultModel: model ?? null,
  secrets: apiKey === undefined ? [] : [apiKey],
});

/** Creates a probe that lists the models of the endpoint. */
const createProbe = (baseUrl: string, headers: Record<string, string>) => (fetch: ModelFetch, signal: AbortSignal) =>
  fetch(`${baseUrl}/models`, { headers, signal });
