import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import type { DiagnosticsChannel } from "undici";

/**
 * Maximum informational responses (1xx) to one request. A few are usual, such as early hints and keep-alives of a proxy. Each costs parser
 * time and memory for its headers.
 */
const MAX_INFORMATIONAL_RESPONSES = 32;
/** Bytes of one response outside of its content: informational responses, headers, trailers, chunk extensions, blank lines. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;
/** Additional overhead per byte of content. The framing of a chunk of one byte takes five bytes, and unparsed bytes count too. */
const MAX_OVERHEAD_PER_BYTE = 16;

/** Code of the error with which a connection is closed. */
export const RESPONSE_OVERHEAD_EXCEEDED = "BRIDGE_ANSWER_TOO_LONG";

/** A request as undici publishes it. `upgrade`: the protocol that a WebSocket handshake requests. */
type Request = DiagnosticsChannel.Request & { upgrade?: string | null };

/** The response to the current request of a connection. */
interface ResponseBytes {
  socket: Socket;
  informational: number;
  bytesBefore: number;
  contentBytes: number;
}

/**
 * Closes the connection of every HTTP request of this process whose response has too many bytes outside of its content. HTTP clients
 * limit neither the number of informational responses nor the length of chunk extensions. The code that reads a response limits the
 * content itself. Returns a function that removes the limits.
 */
export function limitResponseOverhead(): () => void {
  const responses = new WeakMap<Request, ResponseBytes>();
  const currentResponses = new WeakMap<Socket, ResponseBytes>();
  const listeners = new WeakMap<Socket, () => void>();

  const onSent = ({ request, socket }: { request: Request; socket: Socket }): void => {
    const state: ResponseBytes = { socket, informational: 0, bytesBefore: socket.bytesRead, contentBytes: 0 };
    responses.set(request, state);
    // Requests over HTTP/2 share their connection.
    if ("alpnProtocol" in socket && socket.alpnProtocol === "h2") return;
    currentResponses.set(socket, state);
    // The bytes of a tunnel or a WebSocket are not a response, and a "readable" listener would keep them from their reader.
    if (request.method === "CONNECT" || request.upgrade != null) {
      stopChecking(socket);
      return;
    }
    if (listeners.has(socket)) return;
    const check = (): void => checkBytes(currentResponses.get(socket) as ResponseBytes);
    listeners.set(socket, check);
    socket.on("readable", check);
  };
  const stopChecking = (socket: Socket): void => {
    const check = listeners.get(socket);
    if (check !== undefined) socket.off("readable", check);
    listeners.delete(socket);
  };
  const onHeaders = ({ request, response }: DiagnosticsChannel.RequestHeadersMessage): void => {
    const state = responses.get(request);
    if (state === undefined || response.statusCode >= 200) return;
    state.informational += 1;
    if (state.informational > MAX_INFORMATIONAL_RESPONSES) state.socket.destroy(createOverheadError());
  };
  const onContent = ({ request, chunk }: { request: Request; chunk: Uint8Array }): void => {
    const state = responses.get(request);
    if (state !== undefined) state.contentBytes += chunk.length;
  };
  const onNodeRequest = ({ request }: { request: ClientRequest }): void => {
    let informational = 0;
    request.on("information", () => {
      informational += 1;
      if (informational > MAX_INFORMATIONAL_RESPONSES) request.destroy(createOverheadError());
    });
  };

  const subscriptions = [
    ["undici:client:sendHeaders", onSent],
    ["undici:request:headers", onHeaders],
    ["undici:request:bodyChunkReceived", onContent],
    // WebSocket handshakes use node:http.
    ["http.client.request.start", onNodeRequest],
  ] as [channel: string, listener: (message: unknown) => void][];
  for (const [channel, listener] of subscriptions) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of subscriptions) unsubscribe(channel, listener);
  };
}

function checkBytes({ socket, bytesBefore, contentBytes }: ResponseBytes): void {
  const overhead = socket.bytesRead - bytesBefore - contentBytes;
  if (overhead > MAX_OVERHEAD_BYTES + MAX_OVERHEAD_PER_BYTE * contentBytes) socket.destroy(createOverheadError());
}

const createOverheadError = (): Error =>
  Object.assign(new Error("The response has too many bytes outside of its content: informational responses, headers or framing."), {
    code: RESPONSE_OVERHEAD_EXCEEDED,
  });
