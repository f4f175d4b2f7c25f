import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { type EventId, parseEventId } from "../../events/event-id.ts";

/** The header of a stream that continues. */
export const lastEventIdHeaders = z.object({
  "last-event-id": z.string().optional().describe("Id of the last event seen: the stream continues after it."),
});

/**
 * The event after which a reader wants to go on: the header, which a browser sends by itself, wins over the query.
 * Null when neither names one; malformed is refused.
 */
export function readLastEventId(request: FastifyRequest, query: { name: string; value: string | undefined }): EventId | null {
  const header = request.headers["last-event-id"];
  if (typeof header === "string" && header !== "") return readEventId("Last-Event-ID", header);
  return query.value === undefined || query.value === "" ? null : readEventId(query.name, query.value);
}

/** Reads an event id that came in a request; malformed is refused by the name of the field. */
export function readEventId(field: string, text: string): EventId {
  const id = parseEventId(text);
  if (id !== null) return id;
  throw new BridgeError("invalid_request", "The event id is malformed.", {
    errors: [{ path: field, message: "must be the id of an event, <epoch>-<number>" }],
  });
}
