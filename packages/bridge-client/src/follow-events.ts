import { type BackoffOptions, createBackoff } from "./backoff.ts";
import { BridgeClientError } from "./bridge-client-error.ts";
import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import { type BridgeEvent, type EventFilter, type EventOptions, type Gap, isTerminal } from "./events.ts";
import { readMessages } from "./read-messages.ts";
import { isRetryable } from "./retry.ts";

/**
 * Follows events across disconnects and restarts of Bridge. It reconnects with the id of the last event, so no event is lost or repeated.
 * The stream of a task ends after the terminal event of the task; any other stream continues until the signal aborts.
 */
export async function* followEvents(
  source: string | EventFilter,
  { after, signal, onGap }: EventOptions,
  options: ConnectionOptions & BackoffOptions,
): AsyncGenerator<BridgeEvent, void> {
  const path = pathOf(source);
  const backoff = createBackoff(options);
  let lastId = after;
  for (;;) {
    let failure: BridgeClientError;
    try {
      const headers = { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) };
      const connection = await connect(options, { path, headers, signal });
      // `lastId` is the terminal event of the task.
      if (connection.response.status === 204) return connection.close();
      expectStream(connection);
      for await (const messages of readMessages(connection)) {
        backoff.reset();
        for (const message of messages) {
          if ("id" in message) lastId = message.id;
          else if (message.event === "stream.gap") reportGap(JSON.parse(message.data) as Gap, onGap);
          // Other `stream.` events contain the reason why Bridge ends the stream, and need no action.
          else if (!message.event.startsWith("stream.")) {
            const event = options.parseJson(message.data) as BridgeEvent;
            yield event;
            if (typeof source === "string" && isTerminal(event)) return;
          }
        }
      }
      failure = new BridgeClientError("unreachable", "Bridge ended the event stream.");
    } catch (error) {
      if (!isRetryable(error, true)) throw error;
      failure = error;
    }
    await backoff.wait(failure, signal);
  }
}

function pathOf(source: string | EventFilter): string {
  if (typeof source === "string") return `/api/v2/tasks/${encodeURIComponent(source)}/events`;
  const { types, ...filter } = source;
  const entries = Object.entries({ ...filter, types: types?.join(",") }).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? "/api/events" : `/api/events?${new URLSearchParams(entries as [string, string][])}`;
}

function expectStream({ response: { status, headers }, close }: Connection): void {
  const type = headers.get("content-type") ?? "no content type";
  if (type.startsWith("text/event-stream")) return;
  close();
  const requestId = headers.get("x-request-id");
  throw new BridgeClientError("unexpected_answer", `HTTP ${status}: expected an event stream, got ${type}.`, { status, requestId });
}

function reportGap(gap: Gap, onGap: EventOptions["onGap"]): void {
  if (onGap === undefined)
    throw new BridgeClientError(
      "stream_gap",
      "Events after `after` have been deleted. Set onGap to continue with the oldest stored event.",
    );
  onGap(gap);
}
