import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { Metrics } from "../../metrics.ts";
import { acceptsOpenMetrics, renderOpenMetrics } from "../wire/open-metrics.ts";
import { problemResponses } from "../wire/problem.ts";

/** Options of the route. */
export interface MetricsRouteOptions {
  metrics: Metrics;
  /** Sets the metrics that are read when they are requested. */
  sample(): Promise<void>;
  /** Whether the route needs no token. */
  isPublic: boolean;
}

/** `GET /metrics`, in the Prometheus text format, or in the format OpenMetrics if the request asks for it. */
export const metricsRoutes: FastifyPluginAsyncZodOpenApi<MetricsRouteOptions> = async (app, { metrics, sample, isPublic }) => {
  app.get(
    "/metrics",
    {
      config: isPublic ? { public: true } : { scope: "metrics" },
      schema: {
        operationId: "getMetrics",
        tags: ["operations"],
        summary: "Get metrics for Prometheus",
        description:
          "In the Prometheus text format. With `Accept: application/openmetrics-text`, in the format OpenMetrics, which adds exemplars " +
          "with trace ids to the histograms of durations. Needs no token if BRIDGE_METRICS_PUBLIC is set.",
        response: {
          200: {
            description: "All metrics.",
            content: { "text/plain": { schema: z.string() }, "application/openmetrics-text": { schema: z.string() } },
          },
          ...problemResponses("unauthenticated", "scope_missing"),
        },
      },
    },
    async (request, reply) => {
      await sample();
      const isOpenMetrics = acceptsOpenMetrics(request.headers.accept);
      const { contentType, text } = isOpenMetrics
        ? await renderOpenMetrics(metrics.registry)
        : { contentType: metrics.registry.contentType, text: await metrics.registry.metrics() };
      return reply.header("content-type", contentType).header("vary", "accept").send(text);
    },
  );
};
