import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { AdapterCapabilities, AdapterInput } from "#contract";
import type { Dispatcher, Load } from "../../dispatch/dispatcher.ts";
import { BridgeError } from "../../errors.ts";
import type { AdapterRegistry, RegisteredAdapter } from "../../registry/adapter-registry.ts";
import type { AvailableAdapters, ForeignAdapter } from "../../registry/available-adapters.ts";
import { pageQuery, pageSchema, toPage } from "../wire/pagination.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { emptyBody, noQuery } from "../wire/request-schemas.ts";
import { connectionSchema } from "../wire/result-schema.ts";
import { timestamp, toIsoOrNull } from "../wire/timestamps.ts";

/** Options of the routes. */
export interface AdapterRouteOptions {
  /** The inputs that an adapter can support. */
  inputs: readonly AdapterInput[];
  registry: AdapterRegistry;
  adapters: AvailableAdapters;
  dispatcher: Dispatcher;
}

const count = z.number().int().nonnegative();
const createAdapterSchema = (inputs: readonly AdapterInput[]) =>
  z
    .strictObject({
      provider: z.string(),
      health: z.strictObject({
        status: z.enum(["healthy", "degraded", "offline"]),
        connection: connectionSchema.nullable(),
        version: z.string().nullable(),
        path: z
          .string()
          .nullable()
          .describe("Path of the program, or origin of the server, that tasks use. Null if there is none or it is unknown."),
        detail: z.string().nullable(),
        preflight: z.array(z.strictObject({ step: z.string(), ok: z.boolean(), detail: z.string() })),
        checkedAt: timestamp.nullable(),
      }),
      capabilities: z
        .object({
          streaming: z.boolean(),
          sessionResume: z.boolean(),
          fileIo: z.boolean(),
          mcpServers: z.boolean(),
          tools: z.boolean(),
          sandboxing: z.boolean(),
          costTracking: z.boolean(),
          management: z.boolean(),
          approvals: z.boolean(),
          cancellation: z.boolean(),
          reportsTools: z.boolean().optional().describe("Reports every tool call before the tool runs. Absent means no."),
          holdsModelCalls: z
            .boolean()
            .optional()
            .describe("Bridge can hold a task between two calls of its model, so that a budget can ask. Absent means no."),
          callsModels: z.boolean().optional().describe("Bridge itself calls the model. Absent means no."),
          outputStrategies: z.array(z.enum(["stream", "file", "structured"])),
          inputs: z.array(z.enum(inputs.map(({ field }) => field))).describe("Supported inputs in addition to the message."),
        })
        .nullable()
        .describe("Null when the adapter could not be loaded."),
      running: count,
      queued: count,
      maxConcurrent: count,
      cooldownUntil: timestamp
        .nullable()
        .describe(
          "Until when tasks with `fallbacks` or `whenLimited` avoid the adapter on this node, because the vendor of its model has rejected calls. Null if they do not.",
        ),
      cooldownReason: z.string().nullable().describe("Null without a cooldown."),
      nodes: z.array(z.string()).describe("Names of the running nodes that have the adapter."),
    })
    .meta({ id: "Adapter", description: "An adapter with its health, capabilities and load." });

const adapterParams = z.object({ provider: z.string().describe("Name of the adapter.") });

/** `GET /api/v2/adapters` and `POST /api/v2/adapters/{provider}/check`. */
export const adapterRoutes: FastifyPluginAsyncZodOpenApi<AdapterRouteOptions> = async (app, { inputs, registry, adapters, dispatcher }) => {
  const adapterSchema = createAdapterSchema(inputs);

  function describeCooldown(provider: string) {
    const cooldown = registry.cooldowns.find(provider);
    return { cooldownUntil: toIsoOrNull(cooldown?.until ?? null), cooldownReason: cooldown?.reason ?? null };
  }

  app.get(
    "/api/v2/adapters",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listAdapters",
        tags: ["adapters"],
        summary: "List adapters",
        description:
          "All adapters in their configured order, with health, capabilities and load, and then those that only other nodes have, sorted by name. Their `running` and `maxConcurrent` are sums over their nodes.",
        querystring: z.strictObject(pageQuery),
        response: {
          200: { description: "A page of adapters.", content: { "application/json": { schema: pageSchema(adapterSchema) } } },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing"),
        },
      },
    },
    async (request) => {
      const { limit, cursor: offset = 0 } = request.query;
      const described = [
        ...registry.list().map((entry) => () => describeAdapter(entry, dispatcher.load(entry.provider))),
        ...adapters.listForeign().map((adapter) => () => describeForeignAdapter(adapter, dispatcher.load(adapter.provider))),
      ];
      const entries = described.map((describe, index) => ({ describe, position: index + 1 }));
      return toPage(
        entries.slice(offset, offset + limit),
        entries.length > offset + limit,
        ({ describe }) => {
          const adapter = describe();
          return { ...adapter, ...describeCooldown(adapter.provider), nodes: adapters.listNodesWith(adapter.provider) };
        },
        ({ position }) => position,
      );
    },
  );

  app.post(
    "/api/v2/adapters/:provider/check",
    {
      config: { scope: "manage" },
      schema: {
        operationId: "checkAdapter",
        tags: ["adapters"],
        summary: "Check an adapter",
        description:
          "Runs the health check of the adapter on this node now, and returns the adapter with its new health. `preflight` lists the steps of the check, with the remedy of each that failed. Concurrent requests share one check, which takes at most 30 seconds, and a check that ended in the last 2 seconds is not repeated. An adapter that could not be loaded is checked only by a restart of Bridge.",
        params: adapterParams,
        querystring: noQuery,
        body: emptyBody,
        response: {
          200: { description: "The adapter with its health.", content: { "application/json": { schema: adapterSchema } } },
          ...problemResponses(...bodyErrorCodes, "unauthenticated", "scope_missing", "not_found", "too_many_requests"),
        },
      },
    },
    async ({ params: { provider } }) => {
      const entry = await registry.checkNow(provider);
      const nodes = adapters.listNodesWith(provider);
      if (entry === undefined) {
        const remedy =
          nodes.length === 0 ? "GET /api/v2/adapters lists the adapters." : `Send the request to a node that has it: ${nodes.join(", ")}.`;
        throw new BridgeError("not_found", `This node has no adapter ${provider}. ${remedy}`);
      }
      return { ...describeAdapter(entry, dispatcher.load(provider)), ...describeCooldown(provider), nodes };
    },
  );
};

function describeAdapter({ provider, adapter, health }: RegisteredAdapter, { running, queued, maxConcurrent }: Load) {
  const { status, connection, version, path = null, detail, preflight, checkedAt } = health;
  const capabilities = adapter?.capabilities() ?? null;
  return {
    provider,
    health: { status, connection, version, path, detail, preflight, checkedAt: toIsoOrNull(checkedAt) },
    capabilities: capabilities === null ? null : describeCapabilities(capabilities),
    running,
    queued,
    maxConcurrent,
  };
}

/** Only the node itself knows the details of its health. */
function describeForeignAdapter({ provider, health, capabilities, checkedAt, running, maxConcurrent }: ForeignAdapter, { queued }: Load) {
  return {
    provider,
    health: { status: health, connection: null, version: null, path: null, detail: null, preflight: [], checkedAt: toIsoOrNull(checkedAt) },
    capabilities: capabilities === null ? null : describeCapabilities(capabilities),
    running,
    queued,
    maxConcurrent,
  };
}

function describeCapabilities({ outputStrategies, inputs = [], ...abilities }: AdapterCapabilities) {
  return { ...abilities, outputStrategies: [...outputStrategies], inputs: [...inputs] };
}
