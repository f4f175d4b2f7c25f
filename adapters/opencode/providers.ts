import { z } from "zod";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";

/** A provider that OpenCode knows. */
interface BuiltInProvider {
  id: string;
  /** The variables that may contain its key. */
  keys: readonly string[];
  /** The address of its API. */
  address: string;
  /** The variable that may contain another address, and the suffix that OpenCode expects after it. */
  baseUrl?: { name: string; suffix: string };
}

/** The providers that OpenCode knows and Bridge configures. */
export const BUILT_IN_PROVIDERS: readonly BuiltInProvider[] = [
  {
    id: "anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    address: "https://api.anthropic.com/v1",
    baseUrl: { name: "ANTHROPIC_BASE_URL", suffix: "/v1" },
  },
  {
    id: "openai",
    keys: ["OPENAI_API_KEY"],
    address: "https://api.openai.com/v1",
    baseUrl: { name: "OPENAI_BASE_URL", suffix: "" },
  },
  {
    id: "google",
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    address: "https://generativelanguage.googleapis.com/v1beta",
    baseUrl: { name: "GOOGLE_GEMINI_BASE_URL", suffix: "/v1beta" },
  },
  { id: "openrouter", keys: ["OPENROUTER_API_KEY"], address: "https://openrouter.ai/api/v1" },
  { id: "groq", keys: ["GROQ_API_KEY"], address: "https://api.groq.com/openai/v1" },
  { id: "mistral", keys: ["MISTRAL_API_KEY"], address: "https://api.mistral.ai/v1" },
  { id: "xai", keys: ["XAI_API_KEY"], address: "https://api.x.ai/v1" },
  { id: "deepseek", keys: ["DEEPSEEK_API_KEY"], address: "https://api.deepseek.com" },
];

/** Variables that hold keys of providers. */
export const KEY_VARIABLES: readonly string[] = BUILT_IN_PROVIDERS.flatMap(({ keys }) => keys);

/** Advice for missing or rejected credentials. */
export const CREDENTIALS_ADVICE =
  "set ANTHROPIC_API_KEY, OPENAI_API_KEY or the key of another provider, describe your own in BRIDGE_OPENCODE_CONFIG, or set BRIDGE_OPENCODE_HOME=user to use your own logins";

const operatorConfigSchema = z.looseObject({
  provider: z.record(z.string(), z.looseObject({ models: z.record(z.string(), z.looseObject({})).optional() })).optional(),
  enabled_providers: z.array(z.string()).optional(),
  disabled_providers: z.array(z.string()).optional(),
  model: z.string().optional(),
});
type OperatorConfig = z.infer<typeof operatorConfigSchema>;

/** Parses the operator's configuration. Throws with a message for the operator if it is not valid. */
export function parseOperatorConfig({ settings }: Pick<ProgramContext, "settings">): OperatorConfig {
  const parsed = operatorConfigSchema.safeParse(settings.config ?? {});
  if (!parsed.success) throw new Error(`BRIDGE_OPENCODE_CONFIG is not a valid OpenCode configuration.\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Lists the providers that tasks may use: those that the operator configures, and built-in providers whose key is set. */
export function findProviders(context: Pick<ProgramContext, "settings" | "env">): string[] {
  const { provider = {}, enabled_providers: enabled, disabled_providers: disabled = [] } = parseOperatorConfig(context);
  const withKey = BUILT_IN_PROVIDERS.filter(({ keys }) => keys.some((key) => isSet(context.env[key])));
  return [...new Set([...Object.keys(provider), ...withKey.map(({ id }) => id)])].filter(
    (id) => !disabled.includes(id) && (enabled?.includes(id) ?? true),
  );
}

/**
 * Builds the provider configuration: built-in providers from the environment, overridden by the operator's configuration. Instead of keys,
 * it contains the names of their variables.
 */
export function buildProviderConfig({ settings, env }: Pick<ProgramContext, "settings" | "env">): Record<string, unknown> {
  const builtIn = BUILT_IN_PROVIDERS.map(({ id, keys, baseUrl }) => {
    const key = keys.find((name) => isSet(env[name]));
    const url = baseUrl === undefined ? undefined : env[baseUrl.name];
    const options = {
      ...(key === undefined ? {} : { apiKey: `{env:${key}}` }),
      ...(isSet(url) ? { baseURL: `${url.replace(/\/+$/, "")}${baseUrl?.suffix}` } : {}),
    };
    return [id, { options }] as const;
  });
  const configured = builtIn.filter(([, { options }]) => Object.keys(options).length > 0);
  return { ...Object.fromEntries(configured), ...parseOperatorConfig({ settings }).provider };
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

/** The id of a model in the form that OpenCode uses. */
export interface Model {
  providerID: string;
  modelID: string;
}

/**
 * Chooses the model of a dispatch; null leaves the choice to OpenCode. Throws with a message for the caller if the provider is ambiguous.
 */
export function chooseModel(request: Pick<ExecutionRequest, "model">, context: Pick<ProgramContext, "settings" | "env">): Model | null {
  const name = request.model ?? parseOperatorConfig(context).model;
  if (name === undefined) return null;
  const providers = findProviders(context);
  const [providerID = "", ...rest] = name.split("/");
  // The operator's logins may include providers that Bridge does not know.
  const isKnown = providers.includes(providerID) || context.settings.home === "user";
  if (isKnown && rest.length > 0) return { providerID, modelID: rest.join("/") };
  const [onlyProvider, ...others] = providers;
  if (onlyProvider !== undefined && others.length === 0 && context.settings.home !== "user")
    return { providerID: onlyProvider, modelID: name };
  throw new Error(`The model "${name}" names no configured provider. Use provider/model with one of: ${providers.join(", ")}.`);
}

/** Checks whether the operator configured the model's price. Otherwise OpenCode reports a cost of 0 for an unknown price. */
export function isPriced({ providerID, modelID }: Model, context: Pick<ProgramContext, "settings">): boolean {
  return parseOperatorConfig(context).provider?.[providerID]?.models?.[modelID]?.["cost"] !== undefined;
}
