import type { ExecutionRequest } from "#contract";

/** How Gloo chooses the model. Each request contains exactly one of the three fields. */
export type Routing = { model: string } | { auto_routing: true } | { model_family: string };

const FAMILY_PREFIX = "family:";
const FAMILIES = ["openai", "anthropic", "google", "open source"] as const;

/** Models that reject every request with tools. */
const MODELS_WITHOUT_TOOLS: ReadonlySet<string> = new Set([
  "gloo-deepseek-r1",
  "gloo-meta-llama-4-maverick",
  "gloo-meta-llama-3.1-8b-instruct",
]);

/** Parses the `model` of a dispatch: `auto`, `family:<name>`, or the id of a model. Returns null for an unknown family. */
export function parseModel(model: string): Routing | null {
  if (model === "auto") return { auto_routing: true };
  if (!model.startsWith(FAMILY_PREFIX)) return { model };
  const name = model.slice(FAMILY_PREFIX.length).toLowerCase().replaceAll(/[-_]/g, " ");
  const family = FAMILIES.find((one) => one === name);
  return family === undefined ? null : { model_family: family };
}

/** Returns why a task cannot use this model, and what to change; null if it can. */
export function explainUnsupportedModel(
  model: string,
  { tools = [], mcpServers = [] }: Pick<ExecutionRequest, "tools" | "mcpServers">,
): string | null {
  if (parseModel(model) === null)
    return `Gloo has no model family ${model.slice(FAMILY_PREFIX.length, 100)}. Use one of: ${FAMILIES.map((name) => FAMILY_PREFIX + name.replace(" ", "-")).join(", ")}.`;
  if (!MODELS_WITHOUT_TOOLS.has(model) || tools.length + mcpServers.length === 0) return null;
  return `The model ${model} does not support tools. Omit tools and mcpServers, or use another model, such as auto.`;
}
