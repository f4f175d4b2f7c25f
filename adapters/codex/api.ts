import { createOpenAI } from "@ai-sdk/openai";
import { defaultSettingsMiddleware, wrapLanguageModel } from "ai";
import { z } from "zod";
import { createModelConnection, talkCapabilities } from "../model/create-model-connection.ts";
import type { FindEndpoint } from "../model/model-endpoint.ts";
import { apiKeyName } from "./configuration.ts";

const settingsSchema = z.object({ apiModel: z.string() });

/** Nothing is kept at the vendor: what a conversation needs to go on, its reasoning included, comes back with each answer. */
const stateless = defaultSettingsMiddleware({ settings: { providerOptions: { openai: { store: false } } } });

/** The Responses API of OpenAI, with the key that Codex would have. */
export const findEndpoint: FindEndpoint = (context) => {
  const { settings, env } = context;
  const apiKey = env[apiKeyName(context) ?? ""] ?? "";
  if (apiKey === "") return { missing: "It needs OPENAI_API_KEY or CODEX_API_KEY." };
  const baseUrl = (env["OPENAI_BASE_URL"] || "https://api.openai.com/v1").replace(/\/+$/, "");
  const { OPENAI_ORGANIZATION: organization = "", OPENAI_PROJECT: project = "" } = env;
  const headers = {
    ...(organization !== "" && { "OpenAI-Organization": organization }),
    ...(project !== "" && { "OpenAI-Project": project }),
  };
  return {
    baseUrl,
    defaultModel: settingsSchema.parse(settings).apiModel,
    secrets: [apiKey],
    createModel: (modelId, fetch) =>
      wrapLanguageModel({ model: createOpenAI({ apiKey, baseURL: baseUrl, headers, fetch }).responses(modelId), middleware: stateless }),
    probe: (fetch, signal) => fetch(`${baseUrl}/models`, { headers: { ...headers, authorization: `Bearer ${apiKey}` }, signal }),
  };
};

/** The model alone, without Codex: it answers, and has no tools. */
export const apiConnection = createModelConnection({ name: "api", capabilities: talkCapabilities, findEndpoint });
