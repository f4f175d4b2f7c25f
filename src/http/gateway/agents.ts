import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { AgentFields } from "#contract";
import { BridgeError } from "../../errors.ts";
import { CONTROL_CHARACTERS } from "../../requests/control-characters.ts";
import { rejectPrecondition, sendWithEtag, sendWriteResult } from "../wire/etag.ts";
import { noQuery } from "../wire/request-schemas.ts";
import type { CallManager } from "./call-manager.ts";
import { writeIfMatch } from "./conditional-write.ts";
import {
  agentIdSchema,
  agentParams,
  conditionalReadHeaders,
  describeListResponses,
  describeReadResponses,
  describeWriteErrors,
  describeWriteResponse,
  namePageQuery,
  pageByName,
  preconditionHeaders,
  providerParams,
} from "./schemas.ts";

const agentSchema = z
  .looseObject({ id: z.string(), name: z.string().optional(), model: z.string().optional(), etag: z.string() })
  .meta({ id: "Agent", description: "An agent as its runtime stores it. Further fields depend on the runtime." });

const text = z
  .string()
  .regex(new RegExp(`^[^${CONTROL_CHARACTERS}]{1,256}$`, "u"), "must be 1 to 256 characters without control characters")
  .nullable()
  .optional();
const fields = { name: text, model: text };
const newAgent = z.looseObject({ id: agentIdSchema, ...fields }).meta({
  id: "NewAgent",
  description: "An agent to create. The runtime defines further fields and rejects unknown ones.",
  examples: [{ id: "reviewer", name: "Reviewer" }],
});
const changes = z
  .looseObject(fields)
  .refine((body) => Object.keys(body).length > 0, "must contain at least one field")
  .refine((body) => !("id" in body || "etag" in body), "must not contain id or etag, which cannot be changed")
  .meta({
    id: "AgentChanges",
    description: "The fields to change; null removes a value. The runtime defines further fields.",
    examples: [{ name: "Reviewer" }],
  });

const createAgentNotFound = (): BridgeError => new BridgeError("not_found", "There is no such agent.");

/** `/api/v2/gateway/{provider}/agents` and `…/{agentId}`. */
export const agentRoutes: FastifyPluginAsyncZodOpenApi<{ callManager: CallManager }> = async (app, { callManager }) => {
  const config = { scope: "manage" } as const;
  const tags = ["gateway"];
  const params = z.object(agentParams);

  app.get(
    "/api/v2/gateway/:provider/agents",
    {
      config,
      schema: {
        operationId: "listAgents",
        tags,
        summary: "List the agents of a runtime",
        description: "Sorted by id.",
        params: z.object(providerParams),
        querystring: namePageQuery,
        headers: conditionalReadHeaders,
        response: describeListResponses("A page of agents.", agentSchema),
      },
    },
    async (request, reply) => {
      const agents = await callManager(request, "agents", (manager, signal) => manager.listAgents({ signal }));
      const page = pageByName(agents, ({ id }) => id, request.query);
      return sendWithEtag(request, reply, page);
    },
  );

  app.post(
    "/api/v2/gateway/:provider/agents",
    {
      config,
      schema: {
        operationId: "createAgent",
        tags,
        summary: "Create an agent",
        description: "The runtime creates the agent. The response follows when the agent is ready for tasks.",
        params: z.object(providerParams),
        querystring: noQuery,
        body: newAgent,
        response: { 201: describeWriteResponse("The agent, ready for tasks.", agentSchema, "Location"), ...describeWriteErrors() },
      },
    },
    async (request, reply) => {
      rejectPrecondition(request);
      const { id, ...fields } = request.body;
      const agent = await callManager(request, "agents", (manager, signal) => manager.createAgent(id, fields as AgentFields, { signal }));
      const location = `/api/v2/gateway/${encodeURIComponent(request.params.provider)}/agents/${encodeURIComponent(agent.id)}`;
      return sendWriteResult(reply.header("location", location), 201, agent, agent.etag);
    },
  );

  app.get(
    "/api/v2/gateway/:provider/agents/:agentId",
    {
      config,
      schema: {
        operationId: "getAgent",
        tags,
        summary: "Get an agent",
        description: "The agent as its runtime stores it.",
        params,
        querystring: noQuery,
        headers: conditionalReadHeaders,
        response: describeReadResponses("The agent.", agentSchema),
      },
    },
    async (request, reply) => {
      const agent = await callManager(request, "agents", (manager, signal) => manager.getAgent(request.params.agentId, { signal }));
      if (agent === null) throw createAgentNotFound();
      return sendWithEtag(request, reply, agent, agent.etag);
    },
  );

  app.patch(
    "/api/v2/gateway/:provider/agents/:agentId",
    {
      config,
      schema: {
        operationId: "updateAgent",
        tags,
        summary: "Change an agent",
        description: "Changes the given fields and keeps all other fields.",
        params,
        querystring: noQuery,
        headers: preconditionHeaders,
        body: changes,
        response: { 200: describeWriteResponse("The changed agent.", agentSchema), ...describeWriteErrors() },
      },
    },
    async (request, reply) => {
      const { agentId } = request.params;
      const agent = await callManager(request, "agents", (manager, signal) =>
        writeIfMatch(request, signal, {
          noun: "agent",
          read: () => manager.getAgent(agentId, { signal }),
          write: (ifMatch) => manager.updateAgent(agentId, request.body as AgentFields, ifMatch, { signal }),
        }),
      );
      return sendWriteResult(reply, 200, agent, agent.etag);
    },
  );

  app.delete(
    "/api/v2/gateway/:provider/agents/:agentId",
    {
      config,
      schema: {
        operationId: "deleteAgent",
        tags,
        summary: "Delete an agent",
        description: "Fails with 409 `invalid_state` while the agent works on a task.",
        params,
        querystring: noQuery,
        headers: preconditionHeaders,
        response: { 204: { description: "Deleted." }, ...describeWriteErrors() },
      },
    },
    async (request, reply) => {
      const { agentId } = request.params;
      await callManager(request, "agents", (manager, signal) =>
        writeIfMatch(request, signal, {
          noun: "agent",
          read: () => manager.getAgent(agentId, { signal }),
          write: (ifMatch) => manager.deleteAgent(agentId, ifMatch, { signal }),
        }),
      );
      return reply.code(204).send();
    },
  );
};
