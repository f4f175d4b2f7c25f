import { createParser, type ParseError } from "eventsource-parser";
import { parseExactJson } from "#contract";
import { PROCESS_LIMITS } from "../shared/process/run-process.ts";

/** Reads a stream of server-sent events to its end. Events whose data is not JSON are skipped; an oversized event throws. */
export async function readEventStream(chunks: AsyncIterable<Uint8Array>, onEvent: (event: unknown) => void): Promise<void> {
  const onError = (error: ParseError): void => {
    if (error.type === "max-buffer-size-exceeded") throw error;
  };
  const parser = createParser({
    onEvent({ data }) {
      const event = parseJson(data);
      if (event !== undefined) onEvent(event);
    },
    onError,
    maxBufferSize: PROCESS_LIMITS.lineBytes,
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
}

function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
