import { createParser } from "eventsource-parser";
import type { Connection } from "./connection.ts";
import { readText } from "./read-text.ts";

/** A message of an event stream, or the id of the messages that follow. */
export type StreamMessage = { event: string; data: string } | { id: string };

/** Reads the messages of a stream of server-sent events until it ends. An incomplete last message is dropped. */
export async function* readMessages(connection: Connection): AsyncGenerator<StreamMessage[], void> {
  let messages: StreamMessage[] = [];
  const parser = createParser({
    onId: (id) => void messages.push({ id }),
    onEvent: ({ event = "message", data }) => void messages.push({ event, data }),
  });
  for await (const chunk of readText(connection)) {
    parser.feed(chunk);
    // Also an empty list, after a heartbeat: the caller resets its backoff for it.
    yield messages;
    messages = [];
  }
}
