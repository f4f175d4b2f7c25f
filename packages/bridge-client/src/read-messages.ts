import { createParser } from "eventsource-parser";
import type { Connection } from "./connection.ts";

/** A message of a stream, or an id: where the stream stands from the next message on. */
export type StreamMessage = { event: string; data: string } | { id: string };

/** The messages of a stream of server-sent events, until it ends. What is cut off in the middle of a message is dropped. */
export async function* readMessages({ response, receive, close }: Connection): AsyncGenerator<StreamMessage[], void> {
  let messages: StreamMessage[] = [];
  const parser = createParser({
    onId: (id) => void messages.push({ id }),
    onEvent: ({ event = "message", data }) => void messages.push({ event, data }),
  });
  try {
    if (response.body === null) return;
    const reader = response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      const piece = await receive(reader.read());
      if (piece.done) return;
      parser.feed(piece.value);
      // Of a heartbeat, too: it tells that the connection lives.
      yield messages;
      messages = [];
    }
  } finally {
    close();
  }
}
