import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { sendWithEtag } from "../wire/etag.ts";
import type { CallManager } from "./call-manager.ts";
import { documentRoutes } from "./documents.ts";
import { agentParams, conditionalReadHeaders, describeListResponses, namePageQuery, nameParams, pageByName } from "./schemas.ts";

const listedSchema = z
  .strictObject({ name: z.string(), etag: z.string().nullable(), bytes: z.number().int().nonnegative().nullable() })
  .meta({
    id: "ListedAgentFile",
    description: "A file in a list. `etag` and `bytes` are null if the runtime does not report them in lists.",
  });
const fileSchema = z.strictObject({ name: z.string(), content: z.string(), etag: z.string() }).meta({ id: "AgentFile" });

const fileParams = z.object({ ...agentParams, ...nameParams });

/** `/api/v2/gateway/{provider}/agents/{agentId}/files` and `…/{name}`. */
export const agentFileRoutes: FastifyPluginAsyncZodOpenApi<{ callManager: CallManager }> = async (app, { callManager }) => {
  app.get(
    "/api/v2/gateway/:provider/agents/:agentId/files",
    {
      config: { scope: "manage" },
      schema: {
        operationId: "listAgentFiles",
        tags: ["gateway"],
        summary: "List the files of an agent",
        description: "Sorted by name.",
        params: z.object(agentParams),
        querystring: namePageQuery,
        headers: conditionalReadHeaders,
        response: describeListResponses("A page of files.", listedSchema),
      },
    },
    async (request, reply) => {
      const files = await callManager(request, "agents", (manager, signal) => manager.listAgentFiles(request.params.agentId, { signal }));
      if (files === null) throw new BridgeError("not_found", "There is no such agent.");
      const page = pageByName(files, ({ name }) => name, request.query);
      return sendWithEtag(request, reply, page);
    },
  );

  await app.register(documentRoutes<"agents", z.infer<typeof fileParams>>, {
    callManager,
    url: "/api/v2/gateway/:provider/agents/:agentId/files/:name",
    kind: "agents",
    params: fileParams,
    schema: fileSchema,
    noun: "file",
    fullNoun: "file of an agent",
    operationSuffix: "AgentFile",
    open: (manager, { agentId, name }, call) => ({
      read: () => manager.readAgentFile(agentId, name, call),
      write: (content, ifMatch) => manager.writeAgentFile(agentId, name, content, ifMatch, call),
      delete: (ifMatch) => manager.deleteAgentFile(agentId, name, ifMatch, call),
    }),
  });
};
