import type { onRequestAsyncHookHandler } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { findJsonFault } from "../../requests/canonical-json.ts";
import { toFieldErrors } from "../../requests/field-errors.ts";
import { sendWithEtag } from "../wire/etag.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { agentFileRoutes } from "./agent-files.ts";
import { agentRoutes } from "./agents.ts";
import { auditWrites } from "./audit-writes.ts";
import { bindingRoutes } from "./bindings.ts";
import { type CallManagerOptions, createCallManager, listManagers, managerKinds } from "./call-manager.ts";
import { conditionalReadHeaders, describeReadResponses, providerParams } from "./schemas.ts";
import { skillRoutes } from "./skills.ts";
import { systemRoutes } from "./system.ts";

const runtimeSchema = z
  .looseObject({
    name: z.string(),
    version: z.string().nullable(),
    uptimeSeconds: z.number().nullable(),
    limits: z.record(z.string(), z.unknown()),
    managers: z.array(z.enum(managerKinds)).describe("The groups of routes that this runtime supports."),
  })
  .meta({ id: "Runtime", description: "A runtime as it describes itself. Further fields depend on the runtime." });

/**
 * Bridge's management routes: `GET /api/v2/gateway/{provider}` and everything below. In this directory, "gateway"
 * always means these routes, for the runtime of any provider, and never OpenClaw's daemon of the same name.
 */
export const gatewayRoutes: FastifyPluginAsyncZodOpenApi<
  Omit<CallManagerOptions, "closing"> & {
    /** Passes requests to the node that has the runtime. */
    forward: onRequestAsyncHookHandler;
  }
> = async (app, { forward, ...options }) => {
  app.addHook("onRequest", forward);
  const closing = new AbortController();
  const callManager = createCallManager({ ...options, closing: closing.signal });
  // Fastify runs onClose hooks in reverse order: this one runs after `auditWrites` has logged unfinished writes as unknown.
  app.addHook("onClose", async () => closing.abort());
  auditWrites(app, options.logger);
  app.addHook("preValidation", async ({ body }) => rejectHarmfulJson(body));

  app.get(
    "/api/v2/gateway/:provider",
    {
      config: { scope: "manage" },
      schema: {
        operationId: "getRuntime",
        tags: ["gateway"],
        summary: "Get a runtime",
        description: "The runtime's description of itself, and the parts that can be managed.",
        params: z.object(providerParams),
        querystring: noQuery,
        headers: conditionalReadHeaders,
        response: describeReadResponses("The runtime.", runtimeSchema),
      },
    },
    async (request, reply) => {
      const found = await callManager(request, "runtime", async (manager, signal) => ({
        ...(await manager.getRuntimeInfo({ signal })),
        managers: listManagers(manager),
      }));
      return sendWithEtag(request, reply, found);
    },
  );
  await app.register(agentRoutes, { callManager });
  await app.register(agentFileRoutes, { callManager });
  await app.register(bindingRoutes, { callManager });
  await app.register(skillRoutes, { callManager });
  await app.register(systemRoutes, { callManager });
};

/**
 * Rejects keys that poison prototypes, and values that JSON cannot preserve, because unknown fields are passed to the
 * adapter unchanged.
 */
function rejectHarmfulJson(body: unknown): void {
  const fault = findJsonFault(body);
  if (fault === null) return;
  const errors = toFieldErrors([{ code: "custom", input: undefined, ...fault }]);
  throw new BridgeError("invalid_request", "The body of the request is not valid.", { errors });
}
