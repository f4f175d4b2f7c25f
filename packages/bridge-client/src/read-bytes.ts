import type { Connection } from "./connection.ts";

/** Returns a response whose body rejects with `unreachable` when the connection is lost or silent for too long. */
export function readBytes({ response, receive, close }: Connection): Response {
  const reader = response.body?.getReader();
  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const chunk = reader && (await receive(reader.read()));
      if (chunk?.value !== undefined) return controller.enqueue(chunk.value);
    } catch (error) {
      close();
      throw error;
    }
    close();
    controller.close();
  }
  return new Response(new ReadableStream({ pull, cancel: close }, { highWaterMark: 0 }), response);
}
