import { createOpenAI } from "@ai-sdk/openai";
import { defaultSettingsMiddleware, wrapLanguageModel } from "ai";
import { chatCapabilities, createModelConnection } from "../shared/model-api/create-model-connection.ts";
import type { FindEndpoint } from "../shared/model-api/model-endpoint.ts";
import { parseModelSettings } from "../shared/model-api/settings.ts";

/** Disables storage at OpenAI. Each answer then contains everything that the next request needs, including reasoning. */
const disableStorage = defaultSettingsMiddleware({ settings: { providerOptions: { openai: { store: false } } } });

/** Finds OpenAI's Responses API, with the credentials that Codex would use. */
const findEndpoint: FindEndpoint = ({ settings, env }) => {
  const apiKey = env["CODEX_API_KEY"] || env["OPENAI_API_KEY"] || "";
  if (apiKey === "") return { missing: "Set OPENAI_API_KEY or CODEX_API_KEY." };
  const baseUrl = (env["OPENAI_BASE_URL"] || "https://api.openai.com/v1").replace(/\/+$/, "");
  const { OPENAI_ORGANIZATION: organization = "", OPENAI_PROJECT: project = "" } = env;
  const headers = {
    ...(organization !== "" && { "OpenAI-Organization": organization }),
    ...(project !== "" && { "OpenAI-Project": project }),
  };
  return {
    baseUrl,
    defaultModel: parseModelSettings(settings).apiModel ?? null,
    secrets: [apiKey],
    createModel: (modelId, fetch) =>
      wrapLanguageModel({
        model: createOpenAI({ apiKey, baseURL: baseUrl, headers, fetch }).responses(modelId),
        middleware: disableStorage,
      }),
    probe: (fetch, signal) => fetch(`${baseUrl}/models`, { headers: { ...headers, authorization: `Bearer ${apiKey}` }, signal }),
  };
};

/** Calls the model directly, without Codex and without tools. */
export const apiConnection = createModelConnection({ name: "api", capabilities: chatCapabilities, findEndpoint });
