import type { Connection } from "./connection.ts";

/** Reads the text of a response in chunks. The time limit applies to each chunk, not to the whole response. */
export async function* readText({ response, receive, close }: Connection): AsyncGenerator<string, void> {
  try {
    if (response.body === null) return;
    const reader = response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      const chunk = await receive(reader.read());
      if (chunk.done) return;
      yield chunk.value;
    }
  } finally {
    close();
  }
}
