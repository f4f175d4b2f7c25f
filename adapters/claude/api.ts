import { createAnthropic } from "@ai-sdk/anthropic";
import { chatCapabilities, createModelConnection } from "../shared/model-api/create-model-connection.ts";
import type { FindEndpoint } from "../shared/model-api/model-endpoint.ts";
import { modelSettingsOf } from "../shared/model-api/settings.ts";

const VERSION = "2023-06-01";

/** Variables by which an operator says that the model is in a cloud, where this connection does not reach it. */
const clouds = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"] as const;

/** The Messages API of Anthropic, with the key that Claude Code would have. */
const findEndpoint: FindEndpoint = ({ settings, env }) => {
  const cloud = clouds.find((name) => (env[name] ?? "") !== "");
  if (cloud !== undefined) return { missing: `It reaches Anthropic's own API alone, and ${cloud} is set: install Claude Code.` };
  const { ANTHROPIC_API_KEY: apiKey = "", ANTHROPIC_AUTH_TOKEN: authToken = "" } = env;
  if (apiKey === "" && authToken === "") return { missing: "It needs ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN." };
  const credential = apiKey !== "" ? { apiKey } : { authToken };
  const headers = apiKey !== "" ? { "x-api-key": apiKey } : { authorization: `Bearer ${authToken}` };
  // Claude Code wants it without the version of the API.
  const baseUrl = `${(env["ANTHROPIC_BASE_URL"] || "https://api.anthropic.com").replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
  return {
    baseUrl,
    defaultModel: modelSettingsOf(settings).apiModel ?? null,
    secrets: [apiKey, authToken],
    createModel: (modelId, fetch) => createAnthropic({ ...credential, baseURL: baseUrl, fetch })(modelId),
    probe: (fetch, signal) => fetch(`${baseUrl}/models`, { headers: { ...headers, "anthropic-version": VERSION }, signal }),
  };
};

/** The model alone, without Claude Code: it answers, and has no tools. */
export const apiConnection = createModelConnection({ name: "api", capabilities: chatCapabilities, findEndpoint });
