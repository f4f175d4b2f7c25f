import type { ProgramContext } from "../agent-program/agent-program.ts";
import { isHttpUrl, omitVariables, type ProxyPlan } from "../model-proxy/proxy-plan.ts";

/** Variables that hold a credential, and the header in which Claude Code sends it. If several are set, it uses the first of each header. */
const CREDENTIALS = [
  { name: "ANTHROPIC_API_KEY", header: "x-api-key" },
  { name: "ANTHROPIC_AUTH_TOKEN", header: "authorization" },
  { name: "CLAUDE_CODE_OAUTH_TOKEN", header: "authorization" },
] as const;
const BASE_URL = "ANTHROPIC_BASE_URL";
const CUSTOM_HEADERS = "ANTHROPIC_CUSTOM_HEADERS";

/** Variables that make Claude Code use a cloud vendor, which needs other credentials. */
const CLOUD_VARIABLES = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"];
const OTHER_CLOUD_VARIABLES = /^CLAUDE_CODE_USE_\w+$/;

/** Plans how Claude Code calls Anthropic's API through the proxy. */
export function planClaudeProxy({ env, settings }: Pick<ProgramContext, "env" | "settings">, homeSetting: string): ProxyPlan {
  const isSet = (name: string): boolean => (env[name] ?? "") !== "";
  if (settings.home === "user") return { impossible: `${homeSetting} is user, so Claude Code can use the login in the operator's home.` };
  const cloud = [...CLOUD_VARIABLES, ...settings.env.filter((name) => OTHER_CLOUD_VARIABLES.test(name))].find(isSet);
  if (cloud !== undefined) return { impossible: `${cloud} is set, and the proxy supports only Anthropic's API.` };
  const custom = parseHeaders(env[CUSTOM_HEADERS] ?? "");
  const [used, ...others] = CREDENTIALS.filter(({ name }) => isSet(name));
  if (used === undefined && Object.keys(custom).length === 0)
    return { impossible: `no credential is set. Set ${CREDENTIALS.map(({ name }) => name).join(", ")}.` };
  const baseUrl = env[BASE_URL] || "https://api.anthropic.com";
  if (!isHttpUrl(baseUrl)) return { impossible: `${BASE_URL} is not an HTTP URL.` };

  // Claude Code uses an API key and a token together, each in its own header, and both take precedence over the custom headers.
  const token = used?.header === "x-api-key" ? others.find(({ name }) => name === "ANTHROPIC_AUTH_TOKEN") : undefined;
  const headers: Record<string, string> = { ...custom, ...(token !== undefined && { authorization: `Bearer ${env[token.name]}` }) };
  if (used !== undefined) delete headers[used.header];
  return {
    routes: [{ name: "anthropic", protocol: "anthropic", baseUrl, secret: used === undefined ? null : (env[used.name] ?? null), headers }],
    apply: ({ anthropic }) => ({
      settings,
      env: {
        ...omitVariables(env, [...CREDENTIALS.map(({ name }) => name), CUSTOM_HEADERS]),
        [used?.name ?? "ANTHROPIC_API_KEY"]: anthropic?.key,
        [BASE_URL]: anthropic?.baseUrl,
      },
    }),
  };
}

/** Parses lines such as `X-Team: a`, with names in lower case. */
function parseHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => line.split(":"));
  const named = lines.filter(([name = "", ...value]) => name.trim() !== "" && value.length > 0);
  return Object.fromEntries(named.map(([name = "", ...value]) => [name.trim().toLowerCase(), value.join(":").trim()]));
}
