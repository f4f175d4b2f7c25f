import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { jsonObject, listOf } from "../../requests/field-schemas.ts";
import { sendWithEtag, sendWriteResult } from "../wire/etag.ts";
import { noQuery } from "../wire/request-schemas.ts";
import type { CallManager } from "./call-manager.ts";
import { writeIfMatch } from "./conditional-write.ts";
import {
  agentParams,
  conditionalReadHeaders,
  describeReadResponses,
  describeWriteErrors,
  describeWriteResponse,
  preconditionHeaders,
} from "./schemas.ts";

const MAX_BINDINGS = 1000;
const description = "The bindings, in the format and the order of the runtime.";
const bindings = listOf(MAX_BINDINGS, jsonObject).meta({
  description,
  override: { type: "array", items: { type: "object", additionalProperties: {} }, maxItems: MAX_BINDINGS },
});
const bindingsSchema = z
  .strictObject({ bindings: z.array(jsonObject).max(MAX_BINDINGS).describe(description), etag: z.string() })
  .meta({ id: "AgentBindings", description: "The channels and accounts that an agent is bound to." });
const newBindingsSchema = z.strictObject({ bindings }).meta({ id: "NewAgentBindings", examples: [{ bindings: [] }] });

/** `/api/v2/gateway/{provider}/agents/{agentId}/bindings`. */
export const bindingRoutes: FastifyPluginAsyncZodOpenApi<{ callManager: CallManager }> = async (app, { callManager }) => {
  const route = { url: "/api/v2/gateway/:provider/agents/:agentId/bindings", config: { scope: "manage" } } as const;
  const sharedSchema = { tags: ["gateway"], params: z.object(agentParams), querystring: noQuery };

  app.route({
    ...route,
    method: "GET",
    schema: {
      ...sharedSchema,
      operationId: "getAgentBindings",
      summary: "Get the bindings of an agent",
      description: "The channels and accounts that the agent is bound to.",
      headers: conditionalReadHeaders,
      response: describeReadResponses("All bindings of the agent.", bindingsSchema),
    },
    handler: async (request, reply) => {
      const found = await callManager(request, "agents", (manager, signal) => manager.listBindings(request.params.agentId, { signal }));
      if (found === null) throw new BridgeError("not_found", "There is no such agent.");
      return sendWithEtag(request, reply, found, found.etag);
    },
  });

  app.route({
    ...route,
    method: "PUT",
    schema: {
      ...sharedSchema,
      operationId: "replaceAgentBindings",
      summary: "Replace all bindings of an agent",
      description: "With If-Match, Bridge replaces the bindings only if they have not changed.",
      headers: preconditionHeaders,
      body: newBindingsSchema,
      response: { 200: describeWriteResponse("The new bindings.", bindingsSchema), ...describeWriteErrors() },
    },
    handler: async (request, reply) => {
      const { agentId } = request.params;
      const found = await callManager(request, "agents", (manager, signal) =>
        writeIfMatch(request, signal, {
          noun: "agent",
          read: () => manager.listBindings(agentId, { signal }),
          write: (ifMatch) => manager.setBindings(agentId, request.body.bindings, ifMatch, { signal }),
        }),
      );
      return sendWriteResult(reply, 200, found, found.etag);
    },
  });
};
