import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdapterRegistry } from "../../adapters/adapter-registry.ts";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import type { Metrics } from "../../metrics.ts";
import { problemResponses } from "../wire/problem.ts";

/** What the route needs. */
export interface MetricsDependencies {
  metrics: Pick<Metrics, "registry" | "queued">;
  dispatcher: Pick<Dispatcher, "load">;
  registry: Pick<AdapterRegistry, "list">;
  /** Served without a token? */
  isPublic: boolean;
}

/** `GET /metrics`, in the text format of Prometheus. */
export function registerMetricsRoute(app: FastifyInstance, { metrics, dispatcher, registry, isPublic }: MetricsDependencies): void {
  app.get(
    "/metrics",
    {
      config: isPublic ? { public: true } : { scope: "metrics" },
      schema: {
        operationId: "getMetrics",
        tags: ["operations"],
        summary: "Get metrics for Prometheus",
        description: "In the text format of Prometheus. With BRIDGE_METRICS_PUBLIC it needs no token.",
        response: {
          200: { description: "All metrics.", content: { "text/plain": { schema: z.string() } } },
          ...problemResponses("unauthenticated", "scope_missing"),
        },
      },
    },
    async (_request, reply) => {
      for (const { provider } of registry.list()) {
        metrics.queued.set({ provider }, dispatcher.load(provider).queued);
      }
      return reply.header("content-type", metrics.registry.contentType).send(await metrics.registry.metrics());
    },
  );
}
