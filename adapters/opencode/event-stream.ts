import { createParser } from "eventsource-parser";

/** Reads the events of a server to their end, however the network has cut them. */
export async function readEventStream(chunks: AsyncIterable<Uint8Array>, onEvent: (event: unknown) => void): Promise<void> {
  const parser = createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data)) });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
}
