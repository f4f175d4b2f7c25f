import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { stringifyWellFormed } from "#contract";
import { BridgeError } from "../../errors.ts";
import { PROBLEM_TYPE, toProblem } from "./problem.ts";
import { chooseRequestId } from "./request-id.ts";

// An import of a value would read every property of the module, which loads Node's own copy of undici.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Responds to errors that Node reports before Fastify has a request: malformed, oversized or too slow HTTP. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const response = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
  // A problem cannot be written into a response that has already started.
  if (error.code === "ECONNRESET" || !socket.writable || response?.headersSent === true) {
    socket.destroy();
    return;
  }
  sendProblemOnSocket(socket, toBridgeError(error.code), response?.req ?? { headers: {} });
}

/** Writes a problem as an HTTP response to a socket that has no Fastify reply, and closes the socket. */
export function sendProblemOnSocket(socket: Duplex, error: BridgeError, request: Pick<IncomingMessage, "headers">): void {
  const requestId = chooseRequestId(request);
  const body = stringifyWellFormed(toProblem(error, requestId));
  const head = [
    `HTTP/1.1 ${error.httpStatus} ${STATUS_CODES[error.httpStatus]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Cache-Control: no-store",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function toBridgeError(code: string | undefined): BridgeError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new BridgeError("too_slow", "The request did not arrive within the time limit.");
    case "HPE_HEADER_OVERFLOW":
      return new BridgeError("headers_too_large", "The headers of the request are too large.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new BridgeError("too_large", "The chunk extensions of the body are too large.");
    default:
      return new BridgeError("invalid_request", "The request is not valid HTTP.");
  }
}
