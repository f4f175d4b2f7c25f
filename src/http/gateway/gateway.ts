import type { FastifyPluginAsync } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { findJsonFault } from "../../requests/canonical-json.ts";
import { toFieldErrors } from "../../requests/field-errors.ts";
import { noQuery } from "../wire/empty.ts";
import { sendTagged } from "../wire/etag.ts";
import { registerAgentFileRoutes } from "./agent-files.ts";
import { registerAgentRoutes } from "./agents.ts";
import { auditWrites } from "./audit-writes.ts";
import { registerBindingRoutes } from "./bindings.ts";
import { createManagerCalls, type ManagerCallOptions, managerKinds, managersOf } from "./call-manager.ts";
import { providerParams, readHeaders, readResponses } from "./schemas.ts";
import { registerSkillRoutes } from "./skills.ts";
import { registerSystemRoutes } from "./system.ts";

const runtimeSchema = z
  .looseObject({
    name: z.string(),
    version: z.string().nullable(),
    uptimeSeconds: z.number().nullable(),
    limits: z.record(z.string(), z.unknown()),
    managers: z.array(z.enum(managerKinds)).describe("Which routes below this one exist."),
  })
  .meta({ id: "Runtime", description: "A runtime as it describes itself; further fields are the runtime's own." });

/** `GET /api/v2/gateway/{provider}` and everything below it. */
export function gatewayRoutes(options: Omit<ManagerCallOptions, "closing">): FastifyPluginAsync {
  const closing = new AbortController();
  const callManager = createManagerCalls({ ...options, closing: closing.signal });
  return async (app) => {
    // onClose hooks run in reverse order: the last answers have had their time, and the log reports the outcome of an open write as unknown.
    app.addHook("onClose", async () => closing.abort());
    auditWrites(app, options.logger);
    app.addHook("preValidation", async ({ body }) => refuseHarmfulJson(body));

    app.withTypeProvider<FastifyZodOpenApiTypeProvider>().get(
      "/api/v2/gateway/:provider",
      {
        config: { scope: "manage" },
        schema: {
          operationId: "getRuntime",
          tags: ["gateway"],
          summary: "Get a runtime",
          description: "How the runtime describes itself, and which parts of it can be managed.",
          params: z.object(providerParams),
          querystring: noQuery,
          headers: readHeaders,
          response: readResponses("The runtime.", runtimeSchema),
        },
      },
      async (request, reply) => {
        const found = await callManager(request, "runtime", async (manager, signal) => ({
          ...(await manager.getRuntimeInfo({ signal })),
          managers: managersOf(manager),
        }));
        return sendTagged(request, reply, found);
      },
    );
    registerAgentRoutes(app, callManager);
    registerAgentFileRoutes(app, callManager);
    registerBindingRoutes(app, callManager);
    registerSkillRoutes(app, callManager);
    registerSystemRoutes(app, callManager);
  };
}

/** Fields of the runtime's own go to the adapter as they are: not what could do harm there, or could not be kept as it came. */
function refuseHarmfulJson(body: unknown): void {
  const fault = findJsonFault(body);
  if (fault === null) return;
  const errors = toFieldErrors([{ code: "custom", input: undefined, ...fault }]);
  throw new BridgeError("invalid_request", "The body of the request is not valid.", { errors });
}
