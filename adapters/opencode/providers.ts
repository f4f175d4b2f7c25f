import { z } from "zod";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";

/** Providers that OpenCode brings along: the variables that may hold their key, and how the vendor's base URL is meant. */
const builtIn: readonly { id: string; keys: readonly string[]; baseUrl?: { name: string; suffix: string } }[] = [
  { id: "anthropic", keys: ["ANTHROPIC_API_KEY"], baseUrl: { name: "ANTHROPIC_BASE_URL", suffix: "/v1" } },
  { id: "openai", keys: ["OPENAI_API_KEY"], baseUrl: { name: "OPENAI_BASE_URL", suffix: "" } },
  {
    id: "google",
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    baseUrl: { name: "GOOGLE_GEMINI_BASE_URL", suffix: "/v1beta" },
  },
  { id: "openrouter", keys: ["OPENROUTER_API_KEY"] },
  { id: "groq", keys: ["GROQ_API_KEY"] },
  { id: "mistral", keys: ["MISTRAL_API_KEY"] },
  { id: "xai", keys: ["XAI_API_KEY"] },
  { id: "deepseek", keys: ["DEEPSEEK_API_KEY"] },
];

/** The variables that hold keys of providers. */
export const keyNames: readonly string[] = builtIn.flatMap(({ keys }) => keys);

/** What to do about credentials that are missing or rejected. */
export const credentialsAdvice =
  "set ANTHROPIC_API_KEY, OPENAI_API_KEY or the key of another provider, describe your own in BRIDGE_OPENCODE_CONFIG, or set BRIDGE_OPENCODE_HOME=user to use your own logins";

const operatorConfigSchema = z.looseObject({
  provider: z.record(z.string(), z.looseObject({ models: z.record(z.string(), z.looseObject({})).optional() })).optional(),
  enabled_providers: z.array(z.string()).optional(),
  disabled_providers: z.array(z.string()).optional(),
  model: z.string().optional(),
});
type OperatorConfig = z.infer<typeof operatorConfigSchema>;

/** The operator's configuration; throws, in words for the operator, when it is not of OpenCode's form. */
export function operatorConfig({ settings }: Pick<ProgramContext, "settings">): OperatorConfig {
  const parsed = operatorConfigSchema.safeParse(settings.config ?? {});
  if (!parsed.success) throw new Error(`BRIDGE_OPENCODE_CONFIG is not a configuration of OpenCode.\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** The providers that tasks may use: those that the operator describes, and the built-in ones whose key is there. Never one without a key. */
export function findProviders(context: Pick<ProgramContext, "settings" | "env">): string[] {
  const { provider = {}, enabled_providers: enabled, disabled_providers: disabled = [] } = operatorConfig(context);
  const withKey = builtIn.filter(({ keys }) => keys.some((key) => isSet(context.env[key])));
  return [...new Set([...Object.keys(provider), ...withKey.map(({ id }) => id)])].filter(
    (id) => !disabled.includes(id) && (enabled?.includes(id) ?? true),
  );
}

/** The operator's description of the providers, over what the environment says about the built-in ones; keys are named, not copied. */
export function providerConfig({ settings, env }: Pick<ProgramContext, "settings" | "env">): Record<string, unknown> {
  const known = builtIn.map(({ id, keys, baseUrl }) => {
    const key = keys.find((name) => isSet(env[name]));
    const url = baseUrl === undefined ? undefined : env[baseUrl.name];
    const options = {
      ...(key === undefined ? {} : { apiKey: `{env:${key}}` }),
      ...(isSet(url) ? { baseURL: `${url.replace(/\/+$/, "")}${baseUrl?.suffix}` } : {}),
    };
    return [id, { options }] as const;
  });
  const described = known.filter(([, { options }]) => Object.keys(options).length > 0);
  return { ...Object.fromEntries(described), ...operatorConfig({ settings }).provider };
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

/** A model as OpenCode names it. */
export interface Model {
  providerID: string;
  modelID: string;
}

/** The model of a dispatch; null leaves the choice to OpenCode. Throws, in words for the caller, when it is not clear whose model is meant. */
export function chooseModel(request: Pick<ExecutionRequest, "model">, context: Pick<ProgramContext, "settings" | "env">): Model | null {
  const named = request.model ?? operatorConfig(context).model;
  if (named === undefined) return null;
  const providers = findProviders(context);
  const [providerID = "", ...rest] = named.split("/");
  // With logins of the operator's own there are providers that we know nothing of.
  const isKnown = providers.includes(providerID) || context.settings.home === "user";
  if (isKnown && rest.length > 0) return { providerID, modelID: rest.join("/") };
  const [only, ...others] = providers;
  if (only !== undefined && others.length === 0 && context.settings.home !== "user") return { providerID: only, modelID: named };
  throw new Error(`The model "${named}" names no provider that is set up. Write provider/model, with one of: ${providers.join(", ")}.`);
}

/** Has the operator told what the model costs? Then a price of 0 is known, not missing. */
export function isPriced({ providerID, modelID }: Model, context: Pick<ProgramContext, "settings">): boolean {
  return operatorConfig(context).provider?.[providerID]?.models?.[modelID]?.["cost"] !== undefined;
}
