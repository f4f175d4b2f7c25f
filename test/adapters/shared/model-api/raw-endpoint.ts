import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { createAsyncServer } from "../../../support/create-async-server.ts";

/** One received request. */
export interface Received {
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
  response: ServerResponse;
}

/** A server on 127.0.0.1 whose responses the test writes. Closed at the end of the test. */
export async function openEndpoint(answer: (request: Received) => void | Promise<void>): Promise<{ url: string; requests: Received[] }> {
  const requests: Received[] = [];
  const server = createAsyncServer(async (incoming, response) => {
    const body = await text(incoming);
    const request = { path: incoming.url ?? "", headers: incoming.headers, body: body === "" ? {} : JSON.parse(body), response };
    requests.push(request);
    await answer(request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Starts an event stream. */
export function beginStream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  return response;
}

/** Writes one chunk of a chat completion to the stream; false if the client reads too slowly. */
export const sendChunk = (response: ServerResponse, delta: object, finish_reason: string | null = null): boolean =>
  response.write(
    `data: ${JSON.stringify({ id: "c1", created: 1, model: "raw", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
  );
