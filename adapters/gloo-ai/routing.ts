import type { ExecutionRequest } from "#contract";

/** How Gloo chooses the model: exactly one of the three goes out with each request. */
export type Routing = { model: string } | { auto_routing: true } | { model_family: string };

const familyPrefix = "family:";
const families = ["openai", "anthropic", "google", "open source"] as const;

/** Models that refuse every request in which a tool stands. */
const modelsWithoutTools: ReadonlySet<string> = new Set([
  "gloo-deepseek-r1",
  "gloo-meta-llama-4-maverick",
  "gloo-meta-llama-3.1-8b-instruct",
]);

/** What the `model` of a dispatch means: `auto`, `family:` and its name, or else the id of a model; null for a family that does not exist. */
export function routingOf(model: string): Routing | null {
  if (model === "auto") return { auto_routing: true };
  if (!model.startsWith(familyPrefix)) return { model };
  const name = model.slice(familyPrefix.length).toLowerCase().replaceAll(/[-_]/g, " ");
  const family = families.find((one) => one === name);
  return family === undefined ? null : { model_family: family };
}

/** Why a task cannot have this model, and what to do about it; null when it can. */
export function obstacleToModel(
  model: string,
  { tools = [], mcpServers = [] }: Pick<ExecutionRequest, "tools" | "mcpServers">,
): string | null {
  if (routingOf(model) === null)
    return `Gloo has no model family ${model.slice(familyPrefix.length, 100)}: name ${families.map((name) => familyPrefix + name.replace(" ", "-")).join(", ")}.`;
  if (!modelsWithoutTools.has(model) || tools.length + mcpServers.length === 0) return null;
  return `The model ${model} takes no tools: leave tools and mcpServers out of the dispatch, or name another model, such as auto.`;
}
