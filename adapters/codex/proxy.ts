import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { isHttpUrl, omitVariables, type ProxyPlan } from "../shared/model-proxy/proxy-plan.ts";
import { apiKeyName, KEY_NAMES } from "./configuration.ts";

const BASE_URL = "OPENAI_BASE_URL";

/** Plans how Codex calls the Responses API through the proxy. */
export function planCodexProxy({ env, settings }: Pick<ProgramContext, "env" | "settings">): ProxyPlan {
  const keyName = apiKeyName({ env });
  if (keyName === undefined && env[BASE_URL] === undefined)
    return {
      impossible:
        settings.home === "user"
          ? "Codex uses the login in the operator's home. Set OPENAI_API_KEY to use a key."
          : "no credential is set. Set OPENAI_API_KEY.",
    };
  const baseUrl = env[BASE_URL] ?? "https://api.openai.com/v1";
  if (!isHttpUrl(baseUrl)) return { impossible: `${BASE_URL} is not an HTTP URL.` };
  return {
    // An endpoint of the operator may need no key.
    routes: [{ name: "openai", protocol: "openai", baseUrl, secret: keyName === undefined ? null : (env[keyName] ?? null) }],
    apply: ({ openai }) => ({
      settings,
      env: { ...omitVariables(env, KEY_NAMES), [keyName ?? "OPENAI_API_KEY"]: openai?.key, [BASE_URL]: openai?.baseUrl },
    }),
  };
}
