import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import type { Logger } from "pino";
import { z } from "zod";
import type { ListedNode, NodeDirectory } from "../../cluster/node-directory.ts";
import { extensibleEnum } from "../wire/extensible-enum.ts";
import { pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { emptyBody, noQuery } from "../wire/request-schemas.ts";
import { timestamp, toIso, toIsoOrNull } from "../wire/timestamps.ts";

/** Options of the routes. */
export interface NodeRouteOptions {
  nodes: NodeDirectory;
  logger: Logger;
}

const count = z.number().int().nonnegative();
const stateSchema = extensibleEnum(z.enum(["live", "draining", "gone"]), {
  id: "NodeState",
  description: "`live`: it accepts and runs tasks. `draining`: it is stopping and starts no more tasks. `gone`: it is not running.",
});
const adapterSchema = z
  .strictObject({
    provider: z.string(),
    health: z.enum(["healthy", "degraded", "offline"]),
    running: count,
    maxConcurrent: count,
    checkedAt: timestamp.nullable(),
  })
  .meta({ id: "NodeAdapter", description: "An adapter of a node, with its health and load." });
const nodeSchema = z
  .strictObject({
    name: z.string(),
    url: z.string().nullable().describe("Where the other nodes reach it; null if BRIDGE_NODE_URL is not set."),
    state: stateSchema,
    leaseUntil: timestamp.nullable().describe("When the other nodes count it as dead, unless it renews its lease. Null with SQLite."),
    startedAt: timestamp,
    version: z.string(),
    tags: z.array(z.string()),
    files: z.enum(["local", "shared", "ephemeral"]).describe("Where the files of its agents are: BRIDGE_FILES."),
    clockSkewMs: z.number().int().describe("By how much its clock is ahead of the clock of the database."),
    agents: count.nullable().describe("Number of agents that live on it. Null with SQLite."),
    adapters: z.array(adapterSchema),
    settingsDiffer: z.boolean().describe("Whether settings that should be equal on all nodes differ from those of the node that answers."),
  })
  .meta({ id: "Node", description: "A Bridge process among those that share a database." });

const nodeParams = z.object({ name: z.string().describe("Name of the node.") });
const drainSchema = z.strictObject({ name: z.string(), state: stateSchema }).meta({ id: "DrainingNode" });

/** Errors of requests that change a node. */
const changeErrorCodes = [
  ...bodyErrorCodes,
  ...(["unauthenticated", "scope_missing", "not_found", "invalid_state", "too_many_requests", "storage_unavailable"] as const),
] as const;

/** `GET /api/v2/nodes`, `POST /api/v2/nodes/{name}/drain` and `DELETE /api/v2/nodes/{name}`. */
export const nodeRoutes: FastifyPluginAsyncZodOpenApi<NodeRouteOptions> = async (app, { nodes, logger }) => {
  app.get(
    "/api/v2/nodes",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listNodes",
        tags: ["nodes"],
        summary: "List nodes",
        description: "All nodes that share the database, sorted by name, also those that are not running. With SQLite: this Bridge.",
        querystring: z.strictObject(pageQuery),
        response: {
          200: { description: "A page of nodes.", content: { "application/json": { schema: pageSchema(nodeSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request) => {
      const { limit, cursor: offset = 0 } = request.query;
      const all = nodes.list().map((node, index) => ({ node, position: index + 1 }));
      return toPage(
        all.slice(offset, offset + limit),
        all.length > offset + limit,
        ({ node }) => describeNode(node),
        ({ position }) => position,
      );
    },
  );

  app.post(
    "/api/v2/nodes/:name/drain",
    {
      config: { scope: "manage", isRateLimited: true },
      schema: {
        operationId: "drainNode",
        tags: ["nodes"],
        summary: "Drain a node",
        description:
          "Asks the node to stop as SIGTERM does: it starts no more tasks, waits up to BRIDGE_DRAIN_SECONDS for its running tasks, and exits with code 0. Its queued tasks start on other nodes, except for those of agents that live on it.",
        params: nodeParams,
        querystring: noQuery,
        body: emptyBody,
        response: {
          202: {
            description: "The node was asked to drain.",
            content: { "application/json": { schema: drainSchema } },
          },
          ...problemResponses(...changeErrorCodes),
        },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      await nodes.drain(name);
      logger.info({ node: name, principal: request.principal.name }, "node drain requested");
      return reply.code(202).send({ name, state: "draining" });
    },
  );

  app.delete(
    "/api/v2/nodes/:name",
    {
      config: { scope: "manage", isRateLimited: true },
      schema: {
        operationId: "forgetNode",
        tags: ["nodes"],
        summary: "Forget a node that is gone",
        description:
          "Removes a node that will not return. Its agents begin anew on other nodes, without their files and sessions, and their queued tasks start there. Fails with 409 `invalid_state` while the node is running.",
        params: nodeParams,
        querystring: noQuery,
        response: { 204: { description: "Forgotten." }, ...problemResponses(...changeErrorCodes) },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      await nodes.forget(name);
      logger.info({ node: name, principal: request.principal.name }, "node forgotten");
      return reply.code(204).send();
    },
  );
};

function describeNode({ startedAt, leaseUntil, skewMs, adapters, tags, ...node }: ListedNode): z.infer<typeof nodeSchema> {
  const { name, url, state, version, files, agents, settingsDiffer } = node;
  return {
    ...{ name, url, state },
    leaseUntil: toIsoOrNull(leaseUntil),
    startedAt: toIso(startedAt),
    version,
    tags: [...tags],
    files,
    clockSkewMs: Math.round(skewMs),
    agents,
    adapters: adapters.map(({ provider, health, running, maxConcurrent, checkedAt }) => ({
      ...{ provider, health, running, maxConcurrent },
      checkedAt: toIsoOrNull(checkedAt),
    })),
    settingsDiffer,
  };
}
