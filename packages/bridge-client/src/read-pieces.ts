import type { Connection } from "./connection.ts";

/** The text of an answer, piece by piece: a long one may take its time, as long as it is not silent. */
export async function* readPieces({ response, receive, close }: Connection): AsyncGenerator<string, void> {
  try {
    if (response.body === null) return;
    const reader = response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      const piece = await receive(reader.read());
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    close();
  }
}
