import type { FastifyInstance } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../errors.ts";
import type { CallManager } from "./call-manager.ts";
import { noQuery } from "./empty.ts";
import { sendTagged, sendWritten } from "./etag.ts";
import {
  agentParams,
  contentBody,
  listResponses,
  namePageQuery,
  nameParams,
  pageByName,
  preconditionHeaders,
  readContent,
  readResponses,
  writeRefusals,
  written,
} from "./gateway-schemas.ts";
import { putIfMatch, writeIfMatch } from "./precondition.ts";

const listedSchema = z
  .strictObject({ name: z.string(), etag: z.string().nullable(), bytes: z.number().int().nonnegative().nullable() })
  .meta({ id: "ListedAgentFile", description: "Null is what the runtime does not tell in a list." });
const fileSchema = z.strictObject({ name: z.string(), content: z.string(), etag: z.string() }).meta({ id: "AgentFile" });

/** `/api/v2/gateway/{provider}/agents/{agentId}/files` and `…/{name}`. */
export function registerAgentFileRoutes(server: FastifyInstance, callManager: CallManager): void {
  const app = server.withTypeProvider<FastifyZodOpenApiTypeProvider>();
  const route = { url: "/api/v2/gateway/:provider/agents/:agentId/files/:name", config: { scope: "manage" } } as const;
  const common = { tags: ["gateway"], params: z.object({ ...agentParams, ...nameParams }), querystring: noQuery };

  app.get(
    "/api/v2/gateway/:provider/agents/:agentId/files",
    {
      config: { scope: "manage" },
      schema: {
        tags: ["gateway"],
        summary: "List the files of an agent, by name",
        params: z.object(agentParams),
        querystring: namePageQuery,
        response: listResponses("A page of files.", listedSchema),
      },
    },
    async (request, reply) => {
      const files = await callManager(request, "agents", (manager) => manager.listAgentFiles(request.params.agentId));
      if (files === null) throw new BridgeError("not_found", "There is no such agent.");
      const page = pageByName(files, ({ name }) => name, request.query);
      return sendTagged(request, reply, page);
    },
  );

  app.route({
    ...route,
    method: "GET",
    schema: { ...common, summary: "One file of an agent", response: readResponses("The file.", fileSchema) },
    handler: async (request, reply) => {
      const { agentId, name } = request.params;
      const file = await callManager(request, "agents", (manager) => manager.readAgentFile(agentId, name));
      if (file === null) throw new BridgeError("not_found", "There is no such file.");
      return sendTagged(request, reply, file, file.etag);
    },
  });

  app.route({
    ...route,
    method: "PUT",
    schema: {
      ...common,
      summary: "Write a file of an agent",
      headers: preconditionHeaders,
      body: contentBody,
      response: { 200: written("Replaced.", fileSchema), 201: written("Made.", fileSchema), ...writeRefusals() },
    },
    handler: async (request, reply) => {
      const { agentId, name } = request.params;
      const content = readContent(request.body);
      const { isNew, result } = await callManager(request, "agents", (manager, signal) =>
        putIfMatch(request, signal, {
          what: "file",
          read: () => manager.readAgentFile(agentId, name),
          write: (ifMatch) => manager.writeAgentFile(agentId, name, content, ifMatch),
        }),
      );
      return sendWritten(reply, isNew ? 201 : 200, result, result.etag);
    },
  });

  app.route({
    ...route,
    method: "DELETE",
    schema: {
      ...common,
      summary: "Delete a file of an agent",
      headers: preconditionHeaders,
      response: { 204: { description: "Deleted." }, ...writeRefusals() },
    },
    handler: async (request, reply) => {
      const { agentId, name } = request.params;
      await callManager(request, "agents", (manager, signal) =>
        writeIfMatch(request, signal, {
          what: "file",
          read: () => manager.readAgentFile(agentId, name),
          write: (ifMatch) => manager.deleteAgentFile(agentId, name, ifMatch),
        }),
      );
      return reply.code(204).send();
    },
  });
}
