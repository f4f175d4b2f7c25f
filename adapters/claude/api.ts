import { createAnthropic } from "@ai-sdk/anthropic";
import { chatCapabilities, createModelConnection } from "../shared/model-api/create-model-connection.ts";
import type { FindEndpoint } from "../shared/model-api/model-endpoint.ts";
import { parseModelSettings } from "../shared/model-api/settings.ts";

const API_VERSION = "2023-06-01";

/** Variables that select a cloud provider, which this connection does not support. */
const CLOUD_VARIABLES = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"] as const;

/** Finds Anthropic's Messages API, with the credentials that Claude Code would use. */
const findEndpoint: FindEndpoint = ({ settings, env }) => {
  const cloud = CLOUD_VARIABLES.find((name) => (env[name] ?? "") !== "");
  if (cloud !== undefined)
    return { missing: `The api connection supports only Anthropic's API, but ${cloud} is set. Install Claude Code.` };
  const { ANTHROPIC_API_KEY: apiKey = "", ANTHROPIC_AUTH_TOKEN: authToken = "" } = env;
  if (apiKey === "" && authToken === "") return { missing: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN." };
  const credential = apiKey !== "" ? { apiKey } : { authToken };
  const headers = apiKey !== "" ? { "x-api-key": apiKey } : { authorization: `Bearer ${authToken}` };
  // ANTHROPIC_BASE_URL has no API version, because Claude Code appends it.
  const baseUrl = `${(env["ANTHROPIC_BASE_URL"] || "https://api.anthropic.com").replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
  return {
    baseUrl,
    defaultModel: parseModelSettings(settings).apiModel ?? null,
    secrets: [apiKey, authToken],
    createModel: (modelId, fetch) => createAnthropic({ ...credential, baseURL: baseUrl, fetch })(modelId),
    probe: (fetch, signal) => fetch(`${baseUrl}/models`, { headers: { ...headers, "anthropic-version": API_VERSION }, signal }),
  };
};

/** Calls the model directly, without Claude Code and without tools. */
export const apiConnection = createModelConnection({ name: "api", capabilities: chatCapabilities, findEndpoint });
