import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { isHttpUrl, omitVariables, type ProxyPlan } from "../shared/model-proxy/proxy-plan.ts";

const KEY = "GEMINI_API_KEY";
const BASE_URL = "GOOGLE_GEMINI_BASE_URL";
/** Variables that hold or name other credentials, which only Vertex AI uses. */
const OTHER_CREDENTIALS = ["GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"];

/** Plans how Gemini CLI calls the Gemini API through the proxy. */
export function planGeminiProxy({ env, settings }: Pick<ProgramContext, "env" | "settings">): ProxyPlan {
  if (settings.home === "user")
    return { impossible: "BRIDGE_GEMINI_HOME is user, so Gemini CLI uses the login and the settings in the operator's home." };
  const other = ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"].find((name) => env[name] === "true");
  if (other !== undefined) return { impossible: `${other} is true, and the proxy supports only the Gemini API with a key.` };
  const secret = env[KEY] ?? "";
  if (secret === "") return { impossible: `no credential is set. Set ${KEY}.` };
  const baseUrl = env[BASE_URL] || "https://generativelanguage.googleapis.com";
  if (!isHttpUrl(baseUrl)) return { impossible: `${BASE_URL} is not an HTTP URL.` };
  return {
    routes: [{ name: "gemini", protocol: "gemini", baseUrl, secret }],
    apply: ({ gemini }) => ({
      settings,
      env: { ...omitVariables(env, [KEY, ...OTHER_CREDENTIALS]), [KEY]: gemini?.key, [BASE_URL]: gemini?.baseUrl },
    }),
  };
}
