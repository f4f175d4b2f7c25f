import type { MetadataExtractor } from "@ai-sdk/openai-compatible";
import { z } from "zod";

const text = z.string().optional().catch(undefined);
const routedSchema = z.object({
  provider: text,
  model: text,
  model_family: text,
  routing_mechanism: text,
  routing_tier: text,
  routing_confidence: z.number().optional().catch(undefined),
  tradition: text,
});

/** How Gloo has chosen a model, as it is told to clients. */
export interface Routed {
  model?: string;
  provider?: string;
  modelFamily?: string;
  routingMechanism?: string;
  routingTier?: string;
  routingConfidence?: number;
  tradition?: string;
}

/** The name under which the library keeps what is Gloo's own. */
export const metadataKey = "gloo";

/** Collects what Gloo puts beside its answer, wherever in a stream it stands; the last word counts. */
export const routingExtractor: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ [metadataKey]: { ...readRouted(parsedBody) } }),
  createStreamExtractor() {
    let routed: Routed = {};
    return {
      processChunk(chunk) {
        routed = { ...routed, ...readRouted(chunk) };
      },
      buildMetadata: () => ({ [metadataKey]: { ...routed } }),
    };
  },
};

/** What one body or one chunk says of it. */
function readRouted(value: unknown): Routed {
  const { data } = routedSchema.safeParse(value);
  if (data === undefined) return {};
  const { model_family, routing_mechanism, routing_tier, routing_confidence, ...rest } = data;
  const all = {
    ...rest,
    modelFamily: model_family,
    routingMechanism: routing_mechanism,
    routingTier: routing_tier,
    routingConfidence: routing_confidence,
  };
  return Object.fromEntries(Object.entries(all).filter(([, field]) => field !== undefined));
}
