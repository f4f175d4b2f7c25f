import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import { PAGE_BYTES } from "../../access/client-memory.ts";
import { BridgeError } from "../../errors.ts";
import { createTaskFeed, type EventStore, isTerminal } from "../../events/event-feed.ts";
import { type EventId, formatEventId } from "../../events/event-id.ts";
import { positionOf } from "../../events/follow-events.ts";
import { isFinal, type TaskProgress } from "../../task.ts";
import { encodeEventJson } from "../wire/encode-event.ts";
import { lastEventIdHeaders, parseEventIdField, parseLastEventId } from "../wire/last-event-id.ts";
import { pageQuery, pageSchema } from "../wire/pagination.ts";
import { problemResponses } from "../wire/problem.ts";
import { taskParams } from "../wire/request-schemas.ts";
import { eventSchema, streamMessageSchema } from "./event-schema.ts";
import type { EventStreams } from "./event-streams.ts";
import { streamFormatSchema } from "./stream-formats.ts";

const eventId = z.string();
const taskEventsQuery = z.strictObject({
  after: eventId.optional().describe("Id of an event. Returns only events after it."),
  cursor: eventId.optional().describe("`meta.nextCursor` of the previous page. Takes precedence over `after`."),
  limit: pageQuery.limit,
  format: streamFormatSchema,
  lastEventId: eventId
    .optional()
    .describe(
      "Streams only: id of the last received event, if the client cannot send the Last-Event-ID header. The header takes precedence.",
    ),
});
type TaskEventsQuery = z.infer<typeof taskEventsQuery>;

interface TaskEventStore extends EventStore {
  findTaskProgress(tenant: string, taskId: string): Promise<TaskProgress | null>;
  hasEventsAfter(taskSeq: number, number: number): Promise<boolean>;
}

/** `GET /api/v2/tasks/{taskId}/events`: the events of a task as a list, or as a stream that ends with the task. */
export const taskEventRoutes: FastifyPluginAsyncZodOpenApi<{ store: TaskEventStore; eventStreams: EventStreams }> = async (
  app,
  { store, eventStreams },
) => {
  async function streamEvents(task: TaskProgress, query: TaskEventsQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const start = query.lastEventId ?? query.cursor ?? query.after;
    const last = parseLastEventId(request, { name: "lastEventId", value: start });
    const from = last === null ? { epoch: store.epoch, number: 0 } : await positionOf(store, last);
    const hasEnded = isFinal(task.state) && !(await store.hasEventsAfter(task.seq, from?.number ?? 0));
    // 204 prevents an EventSource from reconnecting.
    if (hasEnded) await reply.code(204).send();
    else eventStreams.open(request, reply, { feed: createTaskFeed(store, task), from, format: query.format, isLast: isTerminal });
  }

  async function listEvents(task: TaskProgress, query: TaskEventsQuery): Promise<string> {
    // All ids get this epoch. If the epoch changes during a read, the cursor is unknown afterwards, so that no client continues from it.
    const { epoch, number: after } = await parseStartPosition(query);
    const events = await store.readTaskEvents(task.seq, after, query.limit, "execution");
    const last = events.at(-1)?.number;
    const hasMore = last !== undefined && (await store.readTaskEvents(task.seq, last, 1, "execution")).length > 0;
    const idOf = (number: number): string => formatEventId({ epoch, number });
    // The stored JSON text is inserted without parsing it.
    const data = events.map((event) => encodeEventJson(event, idOf(event.number))).join(",");
    return `{"data":[${data}],"meta":${JSON.stringify({ nextCursor: hasMore ? idOf(last) : null })}}`;
  }

  async function parseStartPosition({ cursor, after }: TaskEventsQuery): Promise<EventId> {
    const [field, text] = cursor === undefined ? ["after", after] : ["cursor", cursor];
    if (text === undefined) return { epoch: store.epoch, number: 0 };
    const position = await positionOf(store, parseEventIdField(field, text));
    if (position !== null) return position;
    throw new BridgeError("invalid_request", "The event id is unknown.", {
      errors: [{ path: field, message: "must be the id of an event of this Bridge" }],
    });
  }

  app.get(
    "/api/v2/tasks/:taskId/events",
    {
      config: { scope: "read" },
      exposeHeadRoute: false,
      sse: { kind: "dual", heartbeat: false },
      schema: {
        operationId: "listTaskEvents",
        tags: ["events"],
        summary: "List or stream the events of a task",
        description:
          "Returns a page, oldest first. With `Accept: text/event-stream`, returns a stream: all previous events of the task, then new ones, until the task ends. `data` of each server-sent event is a `StreamMessage`.",
        params: taskParams,
        querystring: taskEventsQuery,
        headers: lastEventIdHeaders,
        response: {
          200: {
            description: "A page, or the stream.",
            content: {
              "application/json": { schema: pageSchema(eventSchema) },
              "text/event-stream": { schema: streamMessageSchema },
            },
          },
          ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found", "draining", "overloaded"),
          204: { description: "The stream has ended: the task has no event after the requested position." },
        },
      },
    },
    async (request, reply) => {
      const task = await store.findTaskProgress(request.principal.tenant, request.params.taskId);
      if (task === null) throw new BridgeError("not_found", "There is no such task.");
      // @fastify/sse sets `reply.sse` only if the Accept header lists text/event-stream.
      const wantsStream = (reply.sse as FastifyReply["sse"] | undefined) !== undefined;
      if (wantsStream) return streamEvents(task, request.query, request, reply);
      await request.reserve(reply, PAGE_BYTES);
      return reply.type("application/json").send(await listEvents(task, request.query));
    },
  );
};
