import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { AdapterRegistry } from "../../adapters/adapter-registry.ts";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import type { Metrics } from "../../metrics.ts";
import { problemResponses } from "../wire/problem.ts";

/** Options of the route. */
export interface MetricsRouteOptions {
  metrics: Metrics;
  dispatcher: Dispatcher;
  registry: AdapterRegistry;
  /** Whether the route needs no token. */
  isPublic: boolean;
}

/** `GET /metrics`, in the Prometheus text format. */
export const metricsRoutes: FastifyPluginAsyncZodOpenApi<MetricsRouteOptions> = async (
  app,
  { metrics, dispatcher, registry, isPublic },
) => {
  app.get(
    "/metrics",
    {
      config: isPublic ? { public: true } : { scope: "metrics" },
      schema: {
        operationId: "getMetrics",
        tags: ["operations"],
        summary: "Get metrics for Prometheus",
        description: "In the Prometheus text format. Needs no token if BRIDGE_METRICS_PUBLIC is set.",
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
};
