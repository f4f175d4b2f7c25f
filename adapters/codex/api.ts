import { createOpenAI } from "@ai-sdk/openai";
import { defaultSettingsMiddleware, wrapLanguageModel } from "ai";
import { chatCapabilities, createModelConnection } from "../shared/model-api/create-model-connection.ts";
import type { FindEndpoint } from "../shared/model-api/model-endpoint.ts";
import { modelSettingsOf } from "../shared/model-api/settings.ts";

/** Nothing is kept at the vendor: what a conversation needs to go on, its reasoning included, comes back with each answer. */
const stateless = defaultSettingsMiddleware({ settings: { providerOptions: { openai: { store: false } } } });

/** The Responses API of OpenAI, with the key that Codex would have. */
const findEndpoint: FindEndpoint = ({ settings, env }) => {
  const apiKey = env["CODEX_API_KEY"] || env["OPENAI_API_KEY"] || "";
  if (apiKey === "") return { missing: "It needs OPENAI_API_KEY or CODEX_API_KEY." };
  const baseUrl = (env["OPENAI_BASE_URL"] || "https://api.openai.com/v1").replace(/\/+$/, "");
  const { OPENAI_ORGANIZATION: organization = "", OPENAI_PROJECT: project = "" } = env;
  const headers = {
    ...(organization !== "" && { "OpenAI-Organization": organization }),
    ...(project !== "" && { "OpenAI-Project": project }),
  };
  return {
    baseUrl,
    defaultModel: modelSettingsOf(settings).apiModel ?? null,
    secrets: [apiKey],
    createModel: (modelId, fetch) =>
      wrapLanguageModel({ model: createOpenAI({ apiKey, baseURL: baseUrl, headers, fetch }).responses(modelId), middleware: stateless }),
    probe: (fetch, signal) => fetch(`${baseUrl}/models`, { headers: { ...headers, authorization: `Bearer ${apiKey}` }, signal }),
  };
};

/** The model alone, without Codex: it answers, and has no tools. */
export const apiConnection = createModelConnection({ name: "api", capabilities: chatCapabilities, findEndpoint });
