import { createParser } from "eventsource-parser";
import type { Connection } from "./connection.ts";
import { readPieces } from "./read-pieces.ts";

/** A message of a stream, or an id: where the stream stands from the next message on. */
export type StreamMessage = { event: string; data: string } | { id: string };

/** The messages of a stream of server-sent events, until it ends. What is cut off in the middle of a message is dropped. */
export async function* readMessages(connection: Connection): AsyncGenerator<StreamMessage[], void> {
  let messages: StreamMessage[] = [];
  const parser = createParser({
    onId: (id) => void messages.push({ id }),
    onEvent: ({ event = "message", data }) => void messages.push({ event, data }),
  });
  for await (const piece of readPieces(connection)) {
    parser.feed(piece);
    // Of a heartbeat, too: it tells that the connection lives.
    yield messages;
    messages = [];
  }
}
