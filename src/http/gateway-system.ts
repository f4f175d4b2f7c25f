import type { FastifyInstance } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import type { CallManager } from "./call-manager.ts";
import { pageQuery, toPage } from "./cursor.ts";
import { emptyBody, noQuery } from "./empty.ts";
import { refusePrecondition, sendTagged } from "./etag.ts";
import { listResponses, providerParams, readResponses, writeRefusals } from "./gateway-schemas.ts";

const ownSchema = z.record(z.string(), z.unknown()).describe("In the runtime's own words.");
const reloadedSchema = z.strictObject({ detail: z.string().nullable() });

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
        summary: "Have a runtime read its configuration again",
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
        summary: "List the models that a runtime knows, in its order",
        querystring: z.strictObject(pageQuery),
        response: listResponses("A page of models.", ownSchema),
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
        summary: "How a runtime is secured, as it sees it",
        querystring: noQuery,
        response: readResponses("What it found.", ownSchema),
      },
    },
    async (request, reply) =>
      sendTagged(request, reply, await callManager(request, "system", (manager, signal) => manager.getSecurityPosture({ signal }))),
  );
}
