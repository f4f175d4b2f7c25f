import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { type EventType, eventTypes } from "#contract";
import { scopes } from "../../access/principal.ts";
import type { Tickets } from "../../access/tickets.ts";
import { BridgeError } from "../../errors.ts";
import { createLogFeed, type EventStore } from "../../events/event-feed.ts";
import type { EventId } from "../../events/event-id.ts";
import { findPositionSince } from "../../events/find-position-since.ts";
import { type EventPosition, positionOf } from "../../events/follow-events.ts";
import { listOf } from "../../requests/field-schemas.ts";
import { lastEventIdHeaders, parseLastEventId } from "../wire/last-event-id.ts";
import { bodyErrorCodes, problemResponses } from "../wire/problem.ts";
import { noQuery } from "../wire/request-schemas.ts";
import { timeInput, timeParameter, timestamp } from "../wire/timestamps.ts";
import { acceptsEventStream } from "./accepts-event-stream.ts";
import { streamMessageSchema } from "./event-schema.ts";
import type { EventStreams } from "./event-streams.ts";
import { streamFormatSchema } from "./stream-formats.ts";

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
  since: timeParameter
    .optional()
    .describe("Start with the first event that was stored at this time or later. The id of the last received event takes precedence.")
    .meta(timeInput),
  lastEventId: z
    .string()
    .optional()
    .describe("Id of the last received event, if the client cannot send the Last-Event-ID header. The header takes precedence."),
  format: streamFormatSchema,
  ticket: z.string().optional().describe("A single-use ticket instead of a token, for browsers."),
});

const ticketSchema = z.object({ ticket: z.string(), expiresAt: timestamp }).meta({ id: "Ticket" });
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

/** `GET /api/events` and `POST /api/v2/events/ticket`. */
export const eventRoutes: FastifyPluginAsyncZodOpenApi<{ store: EventStore; eventStreams: EventStreams; tickets: Tickets }> = async (
  app,
  { store, eventStreams, tickets },
) => {
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
          "Server-sent events of your tenant, starting with the next event, at the time `since`, or after the event in Last-Event-ID. `data` of each is a `StreamMessage`.",
        querystring: eventsQuery,
        headers: lastEventIdHeaders,
        response: {
          200: { description: "The stream. It does not end.", content: { "text/event-stream": { schema: streamMessageSchema } } },
          ...problemResponses(
            "invalid_request",
            "unauthenticated",
            "scope_missing",
            "not_acceptable",
            "draining",
            "overloaded",
            "storage_unavailable",
          ),
        },
      },
      async preHandler(request) {
        if (!acceptsEventStream(request.headers.accept))
          throw new BridgeError("not_acceptable", "This route returns text/event-stream only, which the Accept header does not allow.");
      },
    },
    async (request, reply) => {
      const { taskId, agentId, provider, types, since, lastEventId, format } = request.query;
      const last = parseLastEventId(request, { name: "lastEventId", value: lastEventId });
      eventStreams.open(request, reply, {
        feed: createLogFeed(store, { tenant: request.principal.tenant, taskId, agentId, provider, types }),
        from: await findStart(store, last, since),
        format,
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
        description:
          "The ticket is valid once, within 60 seconds, as the parameter `ticket` of `/api/events` and `/ws/bridge`. It has the requested scopes.",
        querystring: noQuery,
        body: ticketBody,
        response: {
          201: { description: "The ticket.", content: { "application/json": { schema: ticketSchema } } },
          ...problemResponses(
            ...bodyErrorCodes,
            "unauthenticated",
            "scope_missing",
            "too_many_requests",
            "overloaded",
            "storage_unavailable",
          ),
        },
      },
    },
    async (request, reply) => {
      const { ticket, expiresAt } = await tickets.issue(request.principal, { scopes: request.body?.scopes });
      reply.code(201).header("Cache-Control", "no-store");
      return { ticket, expiresAt: new Date(expiresAt).toISOString() };
    },
  );
};

/** Where a stream starts: after the last received event, at a time, or with the next event. */
async function findStart(store: EventStore, last: EventId | null, since: number | undefined): Promise<EventPosition> {
  if (last !== null) return positionOf(store, last);
  if (since !== undefined) return findPositionSince(store, since);
  return { epoch: store.epoch, number: store.lastEventNumber() };
}
