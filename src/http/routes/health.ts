import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { Budgets } from "../../budgets/budgets.ts";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import { BridgeError } from "../../errors.ts";
import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import type { Repositories } from "../../repositories/repository.ts";
import { problemResponses } from "../wire/problem.ts";

/** Options of the routes. */
export interface HealthRouteOptions {
  dispatcher: Pick<Dispatcher, "draining">;
  adapters: Pick<AvailableAdapters, "listCapabilities">;
  /** Rejects when the store cannot write. */
  checkWritable(): Promise<void>;
  /** Reports faults of its file, as `repositories` does. The route needs no token, so warnings contain no data. */
  budgets?: Pick<Budgets, "listWarnings">;
  repositories?: Pick<Repositories, "listWarnings">;
}

/** Requests within this time share one test of the store, because the route needs no token and each test costs a commit. */
const SHARED_CHECK_MS = 1_000;

const okSchema = z.strictObject({ status: z.literal("ok") }).meta({ id: "HealthStatus" });
const readySchema = z
  .strictObject({
    status: z.literal("ok"),
    warnings: z.array(z.string()).optional().describe("Faults of files that Bridge reads again. The previous version stays in force."),
  })
  .meta({ id: "Readiness" });
/**
 * Creates a new object for each route, because the generator of the API description would fill in only the first use of
 * a shared object.
 */
const describeOkResponse = (description: string) => ({ description, content: { "application/json": { schema: okSchema } } });

/** `GET /healthz`, its alias `/health`, and `GET /readyz`. */
export const healthRoutes: FastifyPluginAsyncZodOpenApi<HealthRouteOptions> = async (app, options) => {
  const { dispatcher, adapters, checkWritable, budgets, repositories } = options;
  const checkWritableShared = share(checkWritable, SHARED_CHECK_MS);

  for (const url of ["/healthz", "/health"]) {
    const schema = {
      hide: url === "/health",
      operationId: "checkHealth",
      tags: ["operations"],
      summary: "Check whether Bridge is up",
      description: "For a liveness probe. Needs no token.",
      security: [],
      response: { 200: describeOkResponse("Bridge is up.") },
    };
    app.get(url, { config: { public: true, isProbe: true }, schema }, async () => ({ status: "ok" as const }));
  }

  app.get(
    "/readyz",
    {
      config: { public: true, isProbe: true },
      schema: {
        operationId: "checkReadiness",
        tags: ["operations"],
        summary: "Check whether Bridge accepts tasks",
        description: "For a readiness probe: an adapter is online, the store can write, and Bridge is not stopping. Needs no token.",
        security: [],
        response: {
          200: { description: "Bridge accepts tasks.", content: { "application/json": { schema: readySchema } } },
          ...problemResponses("draining", "adapter_offline", "storage_unavailable"),
        },
      },
    },
    async () => {
      if (dispatcher.draining) throw new BridgeError("draining", "Bridge is stopping.");
      if (adapters.listCapabilities().length === 0) throw new BridgeError("adapter_offline", "No adapter is online.");
      await checkWritableShared();
      const warnings = [...(budgets?.listWarnings() ?? []), ...(repositories?.listWarnings() ?? [])];
      return { status: "ok" as const, ...(warnings.length > 0 && { warnings }) };
    },
  );
};

/** Returns a function that calls `check` at most once in `maxAgeMs`. All its callers in this time receive the same result or error. */
function share(check: () => Promise<void>, maxAgeMs: number): () => Promise<void> {
  let latest: { result: Promise<void>; at: number } | undefined;
  return () => {
    const now = performance.now();
    if (latest === undefined || now - latest.at > maxAgeMs) latest = { result: check(), at: now };
    return latest.result;
  };
}
