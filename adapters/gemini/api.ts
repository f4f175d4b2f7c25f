import { createGoogle } from "@ai-sdk/google";
import { APICallError } from "ai";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { chatCapabilities, createModelConnection } from "../shared/model-api/create-model-connection.ts";
import type { FindEndpoint } from "../shared/model-api/model-endpoint.ts";
import { modelSettingsOf } from "../shared/model-api/settings.ts";

/** The Gemini API, with the key that Gemini CLI would have. */
const findEndpoint: FindEndpoint = ({ settings, env }) => {
  if (env["GOOGLE_GENAI_USE_VERTEXAI"] === "true")
    return { missing: "It reaches the Gemini API alone, and GOOGLE_GENAI_USE_VERTEXAI is set: install Gemini CLI." };
  const apiKey = env["GEMINI_API_KEY"] || env["GOOGLE_API_KEY"] || "";
  if (apiKey === "") return { missing: "It needs GEMINI_API_KEY or GOOGLE_API_KEY." };
  // Gemini CLI wants it without the version of the API.
  const url = (env["GOOGLE_GEMINI_BASE_URL"] || "https://generativelanguage.googleapis.com").replace(/\/+$/, "");
  const baseUrl = /\/v1(alpha|beta)?$/.test(url) ? url : `${url}/${env["GOOGLE_GENAI_API_VERSION"] || "v1beta"}`;
  return {
    baseUrl,
    defaultModel: modelSettingsOf(settings).apiModel ?? null,
    secrets: [apiKey],
    unsupportedReason: (modelId) => (modelName.test(modelId) ? null : "The model's name is none that the Gemini API could have."),
    createModel: (modelId, fetch) => createGoogle({ apiKey, baseURL: baseUrl, fetch })(modelId),
    async probe(fetch, signal) {
      const answer = await fetch(`${baseUrl}/models`, { headers: { "x-goog-api-key": apiKey }, signal });
      return answer.status === 400 && isAboutKey(await answer.text()) ? new Response(null, { status: 401 }) : answer;
    },
    explainError,
  };
};

/** The model alone, without Gemini CLI: it answers, and has no tools. */
export const apiConnection = createModelConnection({ name: "api", capabilities: chatCapabilities, findEndpoint });

/** The name becomes a part of the address, which must stay that of a model. */
const modelName = /^([A-Za-z]+\/)?\w[\w.-]*$/;

/** A wrong key is told as a bad request. */
function explainError(error: unknown): Outcome | undefined {
  if (!APICallError.isInstance(error) || error.statusCode !== 400 || !isAboutKey(error.responseBody ?? "")) return undefined;
  return { status: "error", errorCode: "authentication_required", error: "Gemini's API does not accept the key: check GEMINI_API_KEY." };
}

const isAboutKey = (body: string): boolean => /\bAPI_KEY_INVALID\b|API key (not valid|expired)/i.test(body);
