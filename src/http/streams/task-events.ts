import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZodOpenApi, FastifyZodOpenApiSchema } from "fastify-zod-openapi";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { createTaskFeed, type EventStore, isTerminal } from "../../events/event-feed.ts";
import { formatEventId } from "../../events/event-id.ts";
import { positionOf } from "../../events/follow-events.ts";
import { isFinal, type TaskProgress } from "../../task.ts";
import { listOf, pageQuery } from "../wire/cursor.ts";
import { encodeEnvelope } from "../wire/event-frame.ts";
import { lastEventIdHeaders, readEventId, readLastEventId } from "../wire/last-event-id.ts";
import { problemResponses } from "../wire/problem.ts";
import { taskParams } from "../wire/task-params.ts";
import { eventSchema, streamMessageSchema } from "./describe-event.ts";
import type { EventStreams } from "./event-stream.ts";

const eventId = z.string();
const taskEventsQuery = z.strictObject({
  after: eventId.optional().describe("Id of an event: only later ones."),
  cursor: eventId.optional().describe("nextCursor of the page before; wins over after."),
  limit: pageQuery.limit,
  lastEventId: eventId
    .optional()
    .describe("Of a stream: id of the last event seen, where the Last-Event-ID header cannot be sent; the header wins."),
});
type TaskEventsQuery = z.infer<typeof taskEventsQuery>;

type TaskEventStore = EventStore & { findTaskProgress(tenant: string, taskId: string): Promise<TaskProgress | null> };

/** One task's story: as a list, oldest first, or as a stream that ends with the task. */
export function taskEventRoutes({
  store,
  eventStreams,
}: {
  store: TaskEventStore;
  eventStreams: EventStreams;
}): FastifyPluginAsyncZodOpenApi {
  async function streamEvents(task: TaskProgress, query: TaskEventsQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const start = query.lastEventId ?? query.cursor ?? query.after;
    const last = readLastEventId(request, { name: "lastEventId", value: start });
    const from = last === null ? 0 : positionOf(store, last);
    const isOver = isFinal(task.state) && (await store.readTaskEvents(task.seq, from ?? 0, 1, { callbacks: false })).length === 0;
    // The one answer that keeps an EventSource from coming back.
    if (isOver) await reply.code(204).send();
    else eventStreams.open(request, reply, { feed: createTaskFeed(store, task), from, isLast: isTerminal });
  }

  async function listEvents(task: TaskProgress, query: TaskEventsQuery): Promise<string> {
    const after = readPosition(query);
    const events = await store.readTaskEvents(task.seq, after, query.limit, { callbacks: false });
    const last = events.at(-1)?.number;
    const hasMore = last !== undefined && (await store.readTaskEvents(task.seq, last, 1, { callbacks: false })).length > 0;
    const idOf = (number: number): string => formatEventId(store.epoch, number);
    // The stored JSON goes out as it is.
    const data = events.map((event) => encodeEnvelope(event, idOf(event.number))).join(",");
    return `{"data":[${data}],"meta":${JSON.stringify({ nextCursor: hasMore ? idOf(last) : null })}}`;
  }

  function readPosition({ cursor, after }: TaskEventsQuery): number {
    const [field, text] = cursor === undefined ? ["after", after] : ["cursor", cursor];
    if (text === undefined) return 0;
    const place = positionOf(store, readEventId(field, text));
    if (place !== null) return place;
    throw new BridgeError("invalid_request", "The event id is not of this log.", {
      errors: [{ path: field, message: "names no event that this Bridge has known" }],
    });
  }

  return async (app) => {
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
            "A page, oldest first. With `Accept: text/event-stream` a stream: all events of the task so far, then live, until the task ends. `data` of each server-sent event is a `StreamMessage`.",
          params: taskParams,
          querystring: taskEventsQuery,
          headers: lastEventIdHeaders,
          response: {
            200: {
              description: "A page, or the stream.",
              content: {
                "application/json": { schema: listOf(eventSchema) },
                "text/event-stream": { schema: streamMessageSchema },
              },
            },
            ...problemResponses("invalid_request", "unauthenticated", "scope_missing", "not_found", "draining", "overloaded"),
            204: { description: "The stream has ended before: there is nothing after this event." },
          },
        } satisfies FastifyZodOpenApiSchema,
      },
      async (request, reply) => {
        const task = await store.findTaskProgress(request.principal.tenant, request.params.taskId);
        if (task === null) throw new BridgeError("not_found", "There is no such task.");
        // Set for a reader that asks for an event stream by name.
        const wantsStream = (reply.sse as FastifyReply["sse"] | undefined) !== undefined;
        if (wantsStream) return streamEvents(task, request.query, request, reply);
        return reply.type("application/json").send(await listEvents(task, request.query));
      },
    );
  };
}
