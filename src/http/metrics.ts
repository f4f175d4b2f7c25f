import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdapterRegistry } from "../dispatch/adapter-registry.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Metrics } from "../metrics.ts";
import { problemResponses } from "./problem.ts";

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
        summary: "Metrics for Prometheus",
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
