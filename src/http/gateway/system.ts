import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { rejectPrecondition, sendWithEtag } from "../wire/etag.ts";
import { pageQuery, toPage } from "../wire/pagination.ts";
import { emptyBody, noQuery } from "../wire/request-schemas.ts";
import type { CallManager } from "./call-manager.ts";
import { conditionalReadHeaders, describeListResponses, describeReadResponses, describeWriteErrors, providerParams } from "./schemas.ts";

const runtimeObjectSchema = z.record(z.string(), z.unknown()).describe("In the format of the runtime.");
const modelSchema = runtimeObjectSchema.meta({ id: "RuntimeModel" });
const reloadedSchema = z.strictObject({ detail: z.string().nullable() }).meta({ id: "ReloadedConfiguration" });

/** `/api/v2/gateway/{provider}/system/reload`, `…/models` and `…/security`. */
export const systemRoutes: FastifyPluginAsyncZodOpenApi<{ callManager: CallManager }> = async (app, { callManager }) => {
  const config = { scope: "manage" } as const;
  const sharedSchema = { tags: ["gateway"], params: z.object(providerParams) };

  app.post(
    "/api/v2/gateway/:provider/system/reload",
    {
      config,
      schema: {
        ...sharedSchema,
        operationId: "reloadRuntime",
        summary: "Reload the configuration of a runtime",
        description: "The runtime rereads its configuration.",
        querystring: noQuery,
        body: emptyBody,
        response: {
          200: { description: "Reloaded.", content: { "application/json": { schema: reloadedSchema } } },
          ...describeWriteErrors(),
        },
      },
    },
    async (request) => {
      rejectPrecondition(request);
      return await callManager(request, "system", (manager, signal) => manager.reloadConfig({ signal }));
    },
  );

  app.get(
    "/api/v2/gateway/:provider/system/models",
    {
      config,
      schema: {
        ...sharedSchema,
        operationId: "listModels",
        summary: "List the models of a runtime",
        description: "In the order of the runtime.",
        querystring: z.strictObject(pageQuery),
        headers: conditionalReadHeaders,
        response: describeListResponses("A page of models.", modelSchema),
      },
    },
    async (request, reply) => {
      const { limit, cursor: offset = 0 } = request.query;
      const models = await callManager(request, "system", (manager, signal) => manager.getModelCatalog({ signal }));
      const rows = models.map((model, index) => ({ model, position: index + 1 }));
      const page = toPage(
        rows.slice(offset, offset + limit),
        rows.length > offset + limit,
        ({ model }) => model,
        ({ position }) => position,
      );
      return sendWithEtag(request, reply, page);
    },
  );

  app.get(
    "/api/v2/gateway/:provider/system/security",
    {
      config,
      schema: {
        ...sharedSchema,
        operationId: "getSecurityPosture",
        summary: "Get the security posture of a runtime",
        description: "The runtime's report about its own security.",
        querystring: noQuery,
        headers: conditionalReadHeaders,
        response: describeReadResponses("The security posture.", runtimeObjectSchema),
      },
    },
    async (request, reply) =>
      sendWithEtag(request, reply, await callManager(request, "system", (manager, signal) => manager.getSecurityPosture({ signal }))),
  );
};
