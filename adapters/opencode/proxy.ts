import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { z } from "zod";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import {
  isHttpUrl,
  type LocalRoute,
  omitVariables,
  type ProxyPlan,
  type ProxyRoute,
  type WireProtocol,
} from "../shared/model-proxy/proxy-plan.ts";
import {
  BUILT_IN_PROVIDERS,
  buildProviderConfig,
  CREDENTIALS_ADVICE,
  findProviders,
  KEY_VARIABLES,
  parseOperatorConfig,
} from "./providers.ts";

/** The protocols of the packages with which OpenCode calls providers. */
const PROTOCOLS: Readonly<Record<string, WireProtocol>> = {
  "@ai-sdk/anthropic": "anthropic",
  "@ai-sdk/google": "gemini",
  ...Object.fromEntries(
    [
      "@ai-sdk/openai",
      "@ai-sdk/openai-compatible",
      "@ai-sdk/groq",
      "@ai-sdk/mistral",
      "@ai-sdk/xai",
      "@ai-sdk/deepseek",
      "@openrouter/ai-sdk-provider",
    ].map((name) => [name, "openai"]),
  ),
};

/** The part of a provider's configuration that can hold an address or a credential. */
const providerSchema = z.looseObject({
  npm: z.string().optional(),
  api: z.string().optional(),
  env: z.array(z.string()).optional(),
  options: z
    .looseObject({ apiKey: z.string().optional(), baseURL: z.string().optional(), headers: z.record(z.string(), z.string()).optional() })
    .optional(),
  models: z.record(z.string(), z.looseObject({})).optional(),
});
type ProviderConfig = z.infer<typeof providerSchema>;

/** Names of options that hold a credential which the proxy cannot replace. */
const OTHER_CREDENTIAL = /key|token|secret|credential|password|auth/i;
/** Fields of a model that can replace the address or a credential of its provider. */
const MODEL_ADDRESS_FIELDS = ["provider", "headers", "api"];

/** Why a provider cannot be called through the proxy. */
class Impossible extends Error {}

/** Plans how OpenCode calls its providers through the proxy. Each provider has its own route. */
export function planOpenCodeProxy(context: Pick<ProgramContext, "env" | "settings">): ProxyPlan {
  const { env, settings } = context;
  if (settings.home === "user") return { impossible: "BRIDGE_OPENCODE_HOME is user, so OpenCode uses the logins in the operator's home." };
  try {
    const config = buildProviderConfig(context);
    const ids = findProviders(context);
    if (ids.length === 0) return { impossible: `no provider is configured: ${CREDENTIALS_ADVICE}.` };
    const providers = ids.map((id) => ({ id, config: parseProvider(id, config[id]) }));
    return {
      routes: providers.map(({ id, config: provider }) => createRoute(id, provider, env)),
      apply: (local) => ({
        env: omitVariables(env, [...KEY_VARIABLES, ...providers.flatMap(({ config: provider }) => listVariables(provider))]),
        settings: {
          ...settings,
          config: {
            ...parseOperatorConfig(context),
            provider: Object.fromEntries(providers.map(({ id, config: provider }) => [id, redirect(provider, local[id])])),
          },
        },
      }),
    };
  } catch (error) {
    return { impossible: (error as Error).message };
  }
}

function parseProvider(id: string, config: unknown): ProviderConfig {
  const { data, error } = providerSchema.safeParse(config ?? {});
  if (data === undefined) throw new Impossible(`the configuration of the provider ${id} is not valid.\n${z.prettifyError(error)}`);
  return data;
}

function createRoute(
  id: string,
  { npm, api, env: names = [], options = {}, models = {} }: ProviderConfig,
  env: ProgramContext["env"],
): ProxyRoute {
  const { apiKey, baseURL, headers = {}, ...others } = options;
  const builtIn = BUILT_IN_PROVIDERS.find((provider) => provider.id === id);
  const protocol = npm === undefined ? findBuiltInProtocol(id) : PROTOCOLS[npm];
  if (protocol === undefined) throw new Impossible(`the proxy does not support the package ${npm ?? "of OpenCode"} of the provider ${id}.`);
  const other = Object.keys(others).find((name) => OTHER_CREDENTIAL.test(name));
  if (other !== undefined)
    throw new Impossible(`the proxy cannot replace the option ${other} of the provider ${id}. Use apiKey or headers.`);
  const own = Object.entries(models).find(([, model]) => MODEL_ADDRESS_FIELDS.some((field) => model[field] !== undefined));
  if (own !== undefined) throw new Impossible(`the model ${own[0]} of the provider ${id} has its own address or headers.`);
  const baseUrl = expand(baseURL ?? api ?? builtIn?.address ?? "", env).replace(/\/+$/, "");
  if (!isHttpUrl(baseUrl)) throw new Impossible(`the provider ${id} has no address. Set its options.baseURL in BRIDGE_OPENCODE_CONFIG.`);
  const variable = [...names, ...(builtIn?.keys ?? [])].find((name) => (env[name] ?? "") !== "");
  const secret = apiKey === undefined ? (variable === undefined ? null : (env[variable] ?? null)) : expand(apiKey, env);
  return {
    name: id,
    protocol,
    baseUrl,
    secret,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, expand(value, env)])),
  };
}

function findBuiltInProtocol(id: string): WireProtocol | undefined {
  if (id === "anthropic") return "anthropic";
  if (id === "google") return "gemini";
  return BUILT_IN_PROVIDERS.some((provider) => provider.id === id) ? "openai" : undefined;
}

/** Replaces the address and the credentials of a provider. */
function redirect({ api, env, ...provider }: ProviderConfig, local: LocalRoute | undefined): ProviderConfig {
  const { headers, ...options } = provider.options ?? {};
  return { ...provider, options: { ...options, apiKey: local?.key, baseURL: local?.baseUrl } };
}

/** Lists the variables that may hold a credential of a provider. */
function listVariables(provider: ProviderConfig): string[] {
  const { apiKey, headers } = provider.options ?? {};
  const placeholders = JSON.stringify([apiKey, headers]).matchAll(/\{env:([^}]+)\}/g);
  return [...(provider.env ?? []), ...[...placeholders].flatMap(([, name]) => (name === undefined ? [] : [name]))];
}

/** Expands `{env:NAME}` and `{file:path}`, as OpenCode does. */
function expand(text: string, env: ProgramContext["env"]): string {
  return text
    .replaceAll(/\{env:([^}]+)\}/g, (_, name: string) => env[name] ?? "")
    .replaceAll(/\{file:([^}]+)\}/g, (_, file: string) => {
      const absolute = file.startsWith("~/") ? path.join(env["HOME"] ?? homedir(), file.slice(2)) : file;
      if (!path.isAbsolute(absolute)) throw new Impossible(`the file ${file} has no absolute path.`);
      return readFileSync(absolute, "utf8").trim();
    });
}
