import type { Connection } from "./connection.ts";

/** The answer with its body still to be read, which breaks off with `unreachable` when it is silent for too long. */
export function readBytes({ response, receive, close }: Connection): Response {
  const reader = response.body?.getReader();
  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const piece = reader && (await receive(reader.read()));
      if (piece?.value !== undefined) return controller.enqueue(piece.value);
    } catch (error) {
      close();
      throw error;
    }
    close();
    controller.close();
  }
  return new Response(new ReadableStream({ pull, cancel: close }, { highWaterMark: 0 }), response);
}
