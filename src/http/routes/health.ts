import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdapterRegistry } from "../../adapters/adapter-registry.ts";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import { BridgeError } from "../../errors.ts";
import { problemResponses } from "../wire/problem.ts";

/** What the routes need. */
export interface HealthDependencies {
  dispatcher: Pick<Dispatcher, "draining">;
  registry: Pick<AdapterRegistry, "list">;
  /** Rejects when the store cannot write. */
  checkWritable(): Promise<void>;
}

/** One proof of a write serves everybody who asks within this time: the route is open, and each proof costs a commit. */
const PROOF_MS = 1_000;

const okSchema = z.strictObject({ status: z.literal("ok") }).meta({ id: "HealthStatus" });
/** Creates a new object for each route, because the generator of the API description would fill in only the first use of a shared object. */
const ok = (description: string) => ({ description, content: { "application/json": { schema: okSchema } } });

/** `GET /healthz`, its alias `/health`, and `GET /readyz`. */
export function registerHealthRoutes(app: FastifyInstance, { dispatcher, registry, checkWritable }: HealthDependencies): void {
  const proveWritable = shared(checkWritable, PROOF_MS);

  for (const url of ["/healthz", "/health"]) {
    const schema = {
      hide: url === "/health",
      operationId: "checkHealth",
      tags: ["operations"],
      summary: "Check whether Bridge is up",
      description: "For a liveness probe. Needs no token.",
      security: [],
      response: { 200: ok("Bridge is up.") },
    };
    app.get(url, { config: { public: true }, schema }, async () => ({ status: "ok" }));
  }

  app.get(
    "/readyz",
    {
      config: { public: true },
      schema: {
        operationId: "checkReadiness",
        tags: ["operations"],
        summary: "Check whether Bridge accepts tasks",
        description: "For a readiness probe: an adapter is online, the store can write, and Bridge is not stopping. Needs no token.",
        security: [],
        response: { 200: ok("Bridge accepts tasks."), ...problemResponses("draining", "adapter_offline", "storage_unavailable") },
      },
    },
    async () => {
      if (dispatcher.draining) throw new BridgeError("draining", "Bridge is stopping.");
      if (registry.list().every(({ health }) => health.status === "offline"))
        throw new BridgeError("adapter_offline", "No adapter is online.");
      await proveWritable();
      return { status: "ok" };
    },
  );
}

/** The same answer, good or bad, for everybody who asks while it is under way or fresh. */
function shared(act: () => Promise<void>, freshMs: number): () => Promise<void> {
  let latest: { answer: Promise<void>; at: number } | undefined;
  return () => {
    const now = performance.now();
    if (latest === undefined || now - latest.at > freshMs) latest = { answer: act(), at: now };
    return latest.answer;
  };
}
