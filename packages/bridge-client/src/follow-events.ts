import { BridgeClientError } from "./bridge-client-error.ts";
import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import type { BridgeEvent, EventFilter, EventOptions, Gap } from "./events.ts";
import { createPatience, type PatienceOptions } from "./patience.ts";
import { readMessages } from "./read-messages.ts";
import { canBeTriedAgain } from "./try-again.ts";

/**
 * Follows a stream over disconnects and restarts of Bridge: comes back with the id of the last event, so that none is lost and none
 * comes twice. A task's stream ends after the task's last event; any other goes on until the signal aborts.
 */
export async function* followEvents(
  source: string | EventFilter,
  { after, signal, onGap }: EventOptions,
  options: ConnectionOptions & PatienceOptions,
): AsyncGenerator<BridgeEvent, void> {
  const path = pathOf(source);
  const patience = createPatience(options);
  let lastId = after;
  for (;;) {
    let failure: BridgeClientError;
    try {
      const headers = { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) };
      const connection = await connect(options, { path, headers, signal });
      // The task's last event was the one that was named.
      if (connection.response.status === 204) return connection.close();
      expectStream(connection);
      for await (const messages of readMessages(connection)) {
        patience.renew();
        for (const message of messages) {
          if ("id" in message) lastId = message.id;
          else if (message.event === "stream.gap") tellGap(JSON.parse(message.data) as Gap, onGap);
          // The others of this name tell why Bridge ends the stream: a reason to come back.
          else if (!message.event.startsWith("stream.")) {
            const event = JSON.parse(message.data) as BridgeEvent;
            yield event;
            if (typeof source === "string" && isTerminal(event)) return;
          }
        }
      }
      failure = new BridgeClientError("unreachable", "Bridge has ended the stream.");
    } catch (error) {
      if (!canBeTriedAgain(error, true)) throw error;
      failure = error;
    }
    await patience.wait(failure, signal);
  }
}

function pathOf(source: string | EventFilter): string {
  if (typeof source === "string") return `/api/v2/tasks/${encodeURIComponent(source)}/events`;
  const { types, ...filter } = source;
  const entries = Object.entries({ ...filter, types: types?.join(",") }).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? "/api/events" : `/api/events?${new URLSearchParams(entries as [string, string][])}`;
}

function expectStream({ response: { status, headers }, close }: Connection): void {
  const type = headers.get("content-type") ?? "nothing that is named";
  if (type.startsWith("text/event-stream")) return;
  close();
  const requestId = headers.get("x-request-id");
  throw new BridgeClientError("unexpected_answer", `HTTP ${status}: ${type} in place of a stream of events.`, { status, requestId });
}

function tellGap(gap: Gap, onGap: EventOptions["onGap"]): void {
  if (onGap === undefined)
    throw new BridgeClientError("stream_gap", "Events after the one that was named are no longer kept; with onGap the stream goes on.");
  onGap(gap);
}

const isTerminal = ({ type }: BridgeEvent): boolean => type === "execution.completed" || type === "execution.failed";
