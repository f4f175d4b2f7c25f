import type { MetadataExtractor } from "@ai-sdk/openai-compatible";
import { z } from "zod";

const text = z.string().optional().catch(undefined);
const routingSchema = z.object({
  provider: text,
  model: text,
  model_family: text,
  routing_mechanism: text,
  routing_tier: text,
  routing_confidence: z.number().optional().catch(undefined),
  tradition: text,
});

/** How Gloo chose the model, as Bridge reports it to clients. */
export interface RoutingResult {
  model?: string;
  provider?: string;
  modelFamily?: string;
  routingMechanism?: string;
  routingTier?: string;
  routingConfidence?: number;
  tradition?: string;
}

/** Key of Gloo's fields in the metadata of the AI SDK. */
export const METADATA_KEY = "gloo";

/** Collects the routing fields of a response. In a stream, later chunks override earlier ones. */
export const routingExtractor: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ [METADATA_KEY]: { ...readRouting(parsedBody) } }),
  createStreamExtractor() {
    let routing: RoutingResult = {};
    return {
      processChunk(chunk) {
        routing = { ...routing, ...readRouting(chunk) };
      },
      buildMetadata: () => ({ [METADATA_KEY]: { ...routing } }),
    };
  },
};

/** Reads the routing fields of a response body or a chunk. */
function readRouting(value: unknown): RoutingResult {
  const { data } = routingSchema.safeParse(value);
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
