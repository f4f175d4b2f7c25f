import type { FastifyPluginAsyncZodOpenApi, FastifyZodOpenApiSchema } from "fastify-zod-openapi";
import { z } from "zod";
import { type EventType, eventTypes } from "#contract";
import { scopes } from "../../access/principal.ts";
import type { Tickets } from "../../access/tickets.ts";
import { BridgeError } from "../../errors.ts";
import { createLogFeed, type EventStore } from "../../events/event-feed.ts";
import { positionOf } from "../../events/follow-events.ts";
import { listOf } from "../../requests/field-schemas.ts";
import { noQuery } from "../wire/empty.ts";
import { lastEventIdHeaders, readLastEventId } from "../wire/last-event-id.ts";
import { bodyRefusals, problemResponses } from "../wire/problem.ts";
import { time } from "../wire/time.ts";
import { acceptsEventStream } from "./accepts-event-stream.ts";
import { streamMessageSchema } from "./describe-event.ts";
import type { EventStreams } from "./event-stream.ts";

const name = z.string().min(1).max(128);

const eventsQuery = z.strictObject({
  taskId: name.optional().describe("Only events of this task."),
  agentId: name.optional().describe("Only events of this agent."),
  provider: name.optional().describe("Only events of this adapter."),
  types: z
    .string()
    .transform((text, context): EventType[] => {
      const types = text.split(",").map((item) => eventTypes.find((type) => type === item));
      if (!types.includes(undefined)) return types as EventType[];
      context.addIssue(`must be event types separated by commas: ${eventTypes.join(", ")}`);
      return z.NEVER;
    })
    .optional()
    .describe("Only events of these types, separated by commas."),
  lastEventId: z.string().optional().describe("Id of the last event seen, where the Last-Event-ID header cannot be sent; the header wins."),
  ticket: z.string().optional().describe("A single-use ticket in place of the token, for browsers."),
});

const ticketSchema = z.object({ ticket: z.string(), expiresAt: time }).meta({ id: "Ticket" });
const ticketBody = z
  .strictObject({
    scopes: listOf(scopes.length, z.enum(scopes))
      .refine((list) => list.length > 0, "must name at least one scope")
      .meta({
        description: "Scopes of the ticket. Each must be a scope of the token. Default: all scopes of the token.",
        override: { type: "array", items: { type: "string", enum: [...scopes] }, minItems: 1, maxItems: scopes.length },
      })
      .optional(),
  })
  .meta({ id: "TicketRequest", examples: [{ scopes: ["read"] }] })
  .optional();

/** The stream of all events of a tenant, and the tickets that open it to browsers. */
export function eventRoutes({
  store,
  eventStreams,
  tickets,
}: {
  store: EventStore;
  eventStreams: EventStreams;
  tickets: Tickets;
}): FastifyPluginAsyncZodOpenApi {
  return async (app) => {
    app.get(
      "/api/events",
      {
        config: { scope: "read" },
        exposeHeadRoute: false,
        sse: { kind: "only", heartbeat: false },
        schema: {
          operationId: "streamEvents",
          tags: ["events"],
          summary: "Stream the events of all tasks",
          description:
            "Server-sent events of your tenant, live from now, or after the event that Last-Event-ID names. `data` of each is a `StreamMessage`.",
          querystring: eventsQuery,
          headers: lastEventIdHeaders,
          response: {
            200: { description: "Never ends by itself.", content: { "text/event-stream": { schema: streamMessageSchema } } },
            ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_acceptable", "draining", "overloaded"),
          },
        } satisfies FastifyZodOpenApiSchema,
        async preHandler(request) {
          if (!acceptsEventStream(request.headers.accept))
            throw new BridgeError("not_acceptable", "This is an event stream: accept text/event-stream.");
        },
      },
      async (request, reply) => {
        const { taskId, agentId, provider, types, lastEventId } = request.query;
        const last = readLastEventId(request, { name: "lastEventId", value: lastEventId });
        eventStreams.open(request, reply, {
          feed: createLogFeed(store, { tenant: request.principal.tenant, taskId, agentId, provider, types }),
          from: last === null ? store.lastEventNumber() : positionOf(store, last),
        });
      },
    );

    app.post(
      "/api/v2/events/ticket",
      {
        config: { scope: "read" },
        schema: {
          operationId: "createTicket",
          tags: ["events"],
          summary: "Create a ticket for a browser",
          description: "Valid once, within 60 seconds, as `?ticket=` of `/api/events` and `/ws/bridge`. It permits what its scopes permit.",
          querystring: noQuery,
          body: ticketBody,
          response: {
            201: { description: "The ticket.", content: { "application/json": { schema: ticketSchema } } },
            ...problemResponses(...bodyRefusals, "unauthenticated", "scope_missing", "too_many_requests", "overloaded"),
          },
        } satisfies FastifyZodOpenApiSchema,
      },
      async (request, reply) => {
        const { ticket, expiresAt } = tickets.mint(request.principal, request.body?.scopes);
        reply.code(201).header("Cache-Control", "no-store");
        return { ticket, expiresAt: new Date(expiresAt).toISOString() };
      },
    );
  };
}
