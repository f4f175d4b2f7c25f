import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import type { DiagnosticsChannel } from "undici";

/** A few are usual (hints, signs of life from a proxy); each costs the event loop a turn of the parser and its headers. */
const MAX_INFORMATIONAL_ANSWERS = 32;
/** Bytes of one answer outside of its content: informational answers, headers, trailers, chunk extensions, blank lines … */
const MAX_OVERHEAD_BYTES = 1024 * 1024;
/** … and the framing of content, which is five times as long as a chunk of one byte. Unparsed bytes count, too. */
const MAX_OVERHEAD_PER_BYTE = 16;

/** Code of the error with which such an answer ends. */
export const RESPONSE_OVERHEAD_EXCEEDED = "BRIDGE_ANSWER_TOO_LONG";

/** A request as undici publishes it; `upgrade` names the protocol that a WebSocket's handshake asks for. */
type Request = DiagnosticsChannel.Request & { upgrade?: string | null };

/** The answer to the current request of a connection. */
interface Answer {
  socket: Socket;
  informational: number;
  bytesBefore: number;
  contentBytes: number;
}

/**
 * Ends the connection of every HTTP request of this process whose answer has too many bytes outside of its content. HTTP clients limit neither the
 * number of informational answers nor the length of chunk extensions. The reader of the content limits the content. Returns a function that stops this.
 */
export function limitResponseOverhead(): () => void {
  const answers = new WeakMap<Request, Answer>();
  const current = new WeakMap<Socket, Answer>();
  const listeners = new WeakMap<Socket, () => void>();

  const onSent = ({ request, socket }: { request: Request; socket: Socket }): void => {
    const answer: Answer = { socket, informational: 0, bytesBefore: socket.bytesRead, contentBytes: 0 };
    answers.set(request, answer);
    // Requests over HTTP/2 share their connection.
    if ("alpnProtocol" in socket && socket.alpnProtocol === "h2") return;
    current.set(socket, answer);
    // The bytes of a tunnel or a WebSocket are not an answer, and its reader gets none while a listener of "readable" is there.
    if (request.method === "CONNECT" || request.upgrade != null) {
      stopChecking(socket);
      return;
    }
    if (listeners.has(socket)) return;
    const check = (): void => checkBytes(current.get(socket) as Answer);
    listeners.set(socket, check);
    socket.on("readable", check);
  };
  const stopChecking = (socket: Socket): void => {
    const check = listeners.get(socket);
    if (check !== undefined) socket.off("readable", check);
    listeners.delete(socket);
  };
  const onHeaders = ({ request, response }: DiagnosticsChannel.RequestHeadersMessage): void => {
    const answer = answers.get(request);
    if (answer === undefined || response.statusCode >= 200) return;
    answer.informational += 1;
    if (answer.informational > MAX_INFORMATIONAL_ANSWERS) answer.socket.destroy(answerTooLong());
  };
  const onContent = ({ request, chunk }: { request: Request; chunk: Uint8Array }): void => {
    const answer = answers.get(request);
    if (answer !== undefined) answer.contentBytes += chunk.length;
  };
  const onNodeRequest = ({ request }: { request: ClientRequest }): void => {
    let informational = 0;
    request.on("information", () => {
      informational += 1;
      if (informational > MAX_INFORMATIONAL_ANSWERS) request.destroy(answerTooLong());
    });
  };

  const subscriptions = [
    ["undici:client:sendHeaders", onSent],
    ["undici:request:headers", onHeaders],
    ["undici:request:bodyChunkReceived", onContent],
    // The handshake of a WebSocket.
    ["http.client.request.start", onNodeRequest],
  ] as [channel: string, listener: (message: unknown) => void][];
  for (const [channel, listener] of subscriptions) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of subscriptions) unsubscribe(channel, listener);
  };
}

function checkBytes({ socket, bytesBefore, contentBytes }: Answer): void {
  const overhead = socket.bytesRead - bytesBefore - contentBytes;
  if (overhead > MAX_OVERHEAD_BYTES + MAX_OVERHEAD_PER_BYTE * contentBytes) socket.destroy(answerTooLong());
}

const answerTooLong = (): Error =>
  Object.assign(new Error("The answer has too many bytes outside of its content: informational answers, headers or framing."), {
    code: RESPONSE_OVERHEAD_EXCEEDED,
  });
