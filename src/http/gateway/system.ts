import type { FastifyInstance } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import { pageQuery, toPage } from "../wire/cursor.ts";
import { emptyBody, noQuery } from "../wire/empty.ts";
import { refusePrecondition, sendTagged } from "../wire/etag.ts";
import type { CallManager } from "./call-manager.ts";
import { listResponses, providerParams, readHeaders, readResponses, writeRefusals } from "./schemas.ts";

const ownSchema = z.record(z.string(), z.unknown()).describe("In the form of the runtime.");
const modelSchema = ownSchema.meta({ id: "RuntimeModel" });
const reloadedSchema = z.strictObject({ detail: z.string().nullable() }).meta({ id: "ReloadedConfiguration" });

/** `/api/v2/gateway/{provider}/system/reload`, `…/models` and `…/security`. */
export function registerSystemRoutes(server: FastifyInstance, callManager: CallManager): void {
  const app = server.withTypeProvider<FastifyZodOpenApiTypeProvider>();
  const config = { scope: "manage" } as const;
  const common = { tags: ["gateway"], params: z.object(providerParams) };

  app.post(
    "/api/v2/gateway/:provider/system/reload",
    {
      config,
      schema: {
        ...common,
        operationId: "reloadRuntime",
        summary: "Reload the configuration of a runtime",
        description: "The runtime reads its configuration again.",
        querystring: noQuery,
        body: emptyBody,
        response: {
          200: { description: "Read.", content: { "application/json": { schema: reloadedSchema } } },
          ...writeRefusals(),
        },
      },
    },
    async (request) => {
      refusePrecondition(request);
      return await callManager(request, "system", (manager, signal) => manager.reloadConfig({ signal }));
    },
  );

  app.get(
    "/api/v2/gateway/:provider/system/models",
    {
      config,
      schema: {
        ...common,
        operationId: "listModels",
        summary: "List the models of a runtime",
        description: "In the order of the runtime.",
        querystring: z.strictObject(pageQuery),
        headers: readHeaders,
        response: listResponses("A page of models.", modelSchema),
      },
    },
    async (request, reply) => {
      const { limit, cursor: shown = 0 } = request.query;
      const models = await callManager(request, "system", (manager, signal) => manager.getModelCatalog({ signal }));
      const rows = models.map((model, index) => ({ model, place: index + 1 }));
      const page = toPage(
        rows.slice(shown, shown + limit),
        rows.length > shown + limit,
        ({ model }) => model,
        ({ place }) => place,
      );
      return sendTagged(request, reply, page);
    },
  );

  app.get(
    "/api/v2/gateway/:provider/system/security",
    {
      config,
      schema: {
        ...common,
        operationId: "getSecurityPosture",
        summary: "Get the security posture of a runtime",
        description: "What the runtime reports about its own security.",
        querystring: noQuery,
        headers: readHeaders,
        response: readResponses("What it found.", ownSchema),
      },
    },
    async (request, reply) =>
      sendTagged(request, reply, await callManager(request, "system", (manager, signal) => manager.getSecurityPosture({ signal }))),
  );
}
