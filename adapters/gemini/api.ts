import { createGoogle } from "@ai-sdk/google";
import { APICallError } from "ai";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { chatCapabilities, createModelConnection } from "../shared/model-api/create-model-connection.ts";
import type { FindEndpoint } from "../shared/model-api/model-endpoint.ts";
import { parseModelSettings } from "../shared/model-api/settings.ts";
import { failure } from "../shared/process/failure.ts";

/** Finds the Gemini API, with the key that Gemini CLI would use. */
const findEndpoint: FindEndpoint = ({ settings, env }) => {
  if (env["GOOGLE_GENAI_USE_VERTEXAI"] === "true")
    return { missing: "The api connection supports only the Gemini API, but GOOGLE_GENAI_USE_VERTEXAI is set. Install Gemini CLI." };
  const apiKey = env["GEMINI_API_KEY"] || env["GOOGLE_API_KEY"] || "";
  if (apiKey === "") return { missing: "Set GEMINI_API_KEY or GOOGLE_API_KEY." };
  // GOOGLE_GEMINI_BASE_URL has no API version, because Gemini CLI appends it.
  const url = (env["GOOGLE_GEMINI_BASE_URL"] || "https://generativelanguage.googleapis.com").replace(/\/+$/, "");
  const baseUrl = /\/v1(alpha|beta)?$/.test(url) ? url : `${url}/${env["GOOGLE_GENAI_API_VERSION"] || "v1beta"}`;
  return {
    baseUrl,
    defaultModel: parseModelSettings(settings).apiModel ?? null,
    secrets: [apiKey],
    unsupportedReason: (modelId) => (MODEL_NAME.test(modelId) ? null : "The model is not a valid model name of the Gemini API."),
    createModel: (modelId, fetch) => createGoogle({ apiKey, baseURL: baseUrl, fetch })(modelId),
    async probe(fetch, signal) {
      const answer = await fetch(`${baseUrl}/models`, { headers: { "x-goog-api-key": apiKey }, signal });
      return answer.status === 400 && isKeyError(await answer.text()) ? new Response(null, { status: 401 }) : answer;
    },
    explainError,
  };
};

/** Calls the model directly, without Gemini CLI and without tools. */
export const apiConnection = createModelConnection({ name: "api", capabilities: chatCapabilities, findEndpoint });

/** The name becomes part of the URL path and must not change the path. */
const MODEL_NAME = /^([A-Za-z]+\/)?\w[\w.-]*$/;

/** Detects an invalid key, for which the Gemini API returns status 400. */
function explainError(error: unknown): Outcome | undefined {
  if (!APICallError.isInstance(error) || error.statusCode !== 400 || !isKeyError(error.responseBody ?? "")) return undefined;
  return failure("authentication_required", "The Gemini API rejected the key. Check GEMINI_API_KEY.");
}

const isKeyError = (body: string): boolean => /\bAPI_KEY_INVALID\b|API key (not valid|expired)/i.test(body);
