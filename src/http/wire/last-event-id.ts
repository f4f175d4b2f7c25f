import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { BridgeError } from "../../errors.ts";
import { type EventId, parseEventId } from "../../events/event-id.ts";

/** The request header that resumes a stream. */
export const lastEventIdHeaders = z.object({
  "last-event-id": z.string().optional().describe("Id of the last received event. The stream continues after it."),
});

/**
 * Returns the id of the last event that the client received; null if the request has none. The header takes precedence
 * over the query parameter, because browsers set it when they reconnect. Throws BridgeError `invalid_request` for a
 * malformed id.
 */
export function parseLastEventId(request: FastifyRequest, query: { name: string; value: string | undefined }): EventId | null {
  const header = request.headers["last-event-id"];
  if (typeof header === "string" && header !== "") return parseEventIdField("Last-Event-ID", header);
  return query.value === undefined || query.value === "" ? null : parseEventIdField(query.name, query.value);
}

/** Parses an event id from a field of a request. Throws BridgeError `invalid_request`, which names the field. */
export function parseEventIdField(field: string, text: string): EventId {
  const id = parseEventId(text);
  if (id !== null) return id;
  throw new BridgeError("invalid_request", "The event id is malformed.", {
    errors: [{ path: field, message: "must be the id of an event: <epoch>-<number>" }],
  });
}
