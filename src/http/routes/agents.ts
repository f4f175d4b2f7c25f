import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { AgentList } from "../../queries/agent-list.ts";
import { createClosedSignal } from "../wire/closed-signal.ts";
import { encodeNameCursor, nameCursorSchema, pageQuery, pageSchema } from "../wire/pagination.ts";
import { problemResponses } from "../wire/problem.ts";
import { timestamp, toIso } from "../wire/timestamps.ts";

const agentSchema = z
  .strictObject({
    agentId: z.string(),
    provider: z.string().describe("The adapter of its newest task."),
    tasks: z.number().int().nonnegative().describe("Number of its stored tasks."),
    lastActivityAt: timestamp.describe("When its newest task was created, started or ended."),
    node: z.string().nullable().describe("Name of the node on which it lives. Null with SQLite, and if it lives on no node yet."),
  })
  .meta({ id: "TaskAgent", description: "An agent that has tasks." });

/** `GET /api/v2/agents`. */
export const agentRoutes: FastifyPluginAsyncZodOpenApi<{ agents: AgentList }> = async (app, { agents }) => {
  app.get(
    "/api/v2/agents",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listTaskAgents",
        tags: ["tasks"],
        summary: "List the agents that have tasks",
        description: "The agents of your tenant that have stored tasks, sorted by `agentId`.",
        querystring: z.strictObject({
          limit: pageQuery.limit,
          cursor: nameCursorSchema.optional().describe("`meta.nextCursor` of the previous page."),
        }),
        response: {
          200: { description: "A page of agents.", content: { "application/json": { schema: pageSchema(agentSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const page = { after: cursor ?? "", limit };
      const { agents: found, next } = await agents.page(request.principal.tenant, page, createClosedSignal(reply));
      return {
        data: found.map(({ updatedAt, ...agent }) => ({ ...agent, lastActivityAt: toIso(updatedAt) })),
        meta: { nextCursor: next === null ? null : encodeNameCursor(next) },
      };
    },
  );
};
