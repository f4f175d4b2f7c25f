import type { FastifyInstance } from "fastify";
import type { FastifyZodOpenApiTypeProvider } from "fastify-zod-openapi";
import { z } from "zod";
import type { AgentFields } from "#contract";
import { BridgeError } from "../../errors.ts";
import { CONTROL_CHARACTERS } from "../../requests/control-characters.ts";
import { noQuery } from "../wire/empty.ts";
import { refusePrecondition, sendTagged, sendWritten } from "../wire/etag.ts";
import type { CallManager } from "./call-manager.ts";
import { writeIfMatch } from "./precondition.ts";
import {
  agentIdSchema,
  agentParams,
  listResponses,
  namePageQuery,
  pageByName,
  preconditionHeaders,
  providerParams,
  readHeaders,
  readResponses,
  writeRefusals,
  written,
} from "./schemas.ts";

const agentSchema = z
  .looseObject({ id: z.string(), name: z.string().optional(), model: z.string().optional(), etag: z.string() })
  .meta({ id: "Agent", description: "An agent as its runtime stores it; further fields are the runtime's own." });

const text = z
  .string()
  .regex(new RegExp(`^[^${CONTROL_CHARACTERS}]{1,256}$`, "u"), "must be 1 to 256 characters, none of them a control character")
  .nullable()
  .optional();
const fields = { name: text, model: text };
const newAgent = z.looseObject({ id: agentIdSchema, ...fields }).meta({
  id: "NewAgent",
  description: "An agent to create. The runtime defines the further fields, and rejects those that it does not know.",
  examples: [{ id: "reviewer", name: "Reviewer" }],
});
const changes = z
  .looseObject(fields)
  .refine((given) => Object.keys(given).length > 0, "must change something")
  .refine((given) => !("id" in given || "etag" in given), "must not hold id or etag, which cannot be changed")
  .meta({
    id: "AgentChanges",
    description: "The fields to change; null removes a value. The runtime defines the further fields.",
    examples: [{ name: "Reviewer" }],
  });

const noAgent = (): BridgeError => new BridgeError("not_found", "There is no such agent.");

/** `/api/v2/gateway/{provider}/agents` and `…/{agentId}`. */
export function registerAgentRoutes(server: FastifyInstance, callManager: CallManager): void {
  const app = server.withTypeProvider<FastifyZodOpenApiTypeProvider>();
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
        headers: readHeaders,
        response: listResponses("A page of agents.", agentSchema),
      },
    },
    async (request, reply) => {
      const agents = await callManager(request, "agents", (manager, signal) => manager.listAgents({ signal }));
      const page = pageByName(agents, ({ id }) => id, request.query);
      return sendTagged(request, reply, page);
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
        description: "The runtime creates the agent; it is ready for its first task when this returns.",
        params: z.object(providerParams),
        querystring: noQuery,
        body: newAgent,
        response: { 201: written("The agent, ready for its first task.", agentSchema, "Location"), ...writeRefusals() },
      },
    },
    async (request, reply) => {
      refusePrecondition(request);
      const { id, ...given } = request.body;
      const agent = await callManager(request, "agents", (manager, signal) => manager.createAgent(id, given as AgentFields, { signal }));
      const place = `/api/v2/gateway/${encodeURIComponent(request.params.provider)}/agents/${encodeURIComponent(agent.id)}`;
      return sendWritten(reply.header("location", place), 201, agent, agent.etag);
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
        headers: readHeaders,
        response: readResponses("The agent.", agentSchema),
      },
    },
    async (request, reply) => {
      const agent = await callManager(request, "agents", (manager, signal) => manager.getAgent(request.params.agentId, { signal }));
      if (agent === null) throw noAgent();
      return sendTagged(request, reply, agent, agent.etag);
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
        description: "Changes the given fields and keeps all others.",
        params,
        querystring: noQuery,
        headers: preconditionHeaders,
        body: changes,
        response: { 200: written("The agent, changed.", agentSchema), ...writeRefusals() },
      },
    },
    async (request, reply) => {
      const { agentId } = request.params;
      const agent = await callManager(request, "agents", (manager, signal) =>
        writeIfMatch(request, signal, {
          what: "agent",
          read: () => manager.getAgent(agentId, { signal }),
          write: (ifMatch) => manager.updateAgent(agentId, request.body as AgentFields, ifMatch, { signal }),
        }),
      );
      return sendWritten(reply, 200, agent, agent.etag);
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
        description: "An agent that works on a task is not deleted: 409 `invalid_state`.",
        params,
        querystring: noQuery,
        headers: preconditionHeaders,
        response: { 204: { description: "Deleted." }, ...writeRefusals() },
      },
    },
    async (request, reply) => {
      const { agentId } = request.params;
      await callManager(request, "agents", (manager, signal) =>
        writeIfMatch(request, signal, {
          what: "agent",
          read: () => manager.getAgent(agentId, { signal }),
          write: (ifMatch) => manager.deleteAgent(agentId, ifMatch, { signal }),
        }),
      );
      return reply.code(204).send();
    },
  );
}
