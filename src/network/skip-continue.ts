import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { DiagnosticsChannel } from "undici";

/** A status line of HTTP/1 up to the status. */
const STATUS_LINE_BYTES = "HTTP/1.1 100".length;
/** Position of the last digit of the status. */
const LAST_DIGIT = STATUS_LINE_BYTES - 1;

/**
 * Lets undici skip `100 Continue`, as it skips all other informational responses. Some servers send it to every POST, also without the
 * header `Expect`, and clients must accept it (RFC 9110, section 15.2), but undici ends the connection. Reads it as `102 Processing`.
 * Returns a function that stops this for new requests.
 */
export function skipContinueResponses(): () => void {
  const waiting = new WeakSet<Socket>();
  const wrapped = new WeakSet<Socket>();

  const onSent = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage & { socket: Socket };
    // Requests over HTTP/2 have frames instead of status lines.
    if ("alpnProtocol" in socket && socket.alpnProtocol === "h2") return;
    waiting.add(socket);
    if (wrapped.has(socket)) return;
    wrapped.add(socket);
    const read = socket.read.bind(socket);
    socket.read = (size) => {
      const chunk: unknown = read(size);
      if (Buffer.isBuffer(chunk) && waiting.has(socket) && !replaceContinue(chunk)) waiting.delete(socket);
      return chunk;
    };
  };
  subscribe("undici:client:sendHeaders", onSent);
  return () => void unsubscribe("undici:client:sendHeaders", onSent);
}

/** Replaces the status of each `100 Continue` at the beginning of the bytes. Returns whether only informational responses were in them. */
function replaceContinue(bytes: Buffer): boolean {
  let start = 0;
  while (bytes.length - start >= STATUS_LINE_BYTES) {
    const statusLine = bytes.toString("latin1", start, start + STATUS_LINE_BYTES);
    if (!/^HTTP\/1\.\d 1\d\d$/.test(statusLine)) return false;
    if (statusLine.endsWith("100")) bytes[start + LAST_DIGIT] = "2".charCodeAt(0);
    const end = bytes.indexOf("\r\n\r\n", start);
    if (end < 0) return true;
    start = end + 4;
  }
  return true;
}
