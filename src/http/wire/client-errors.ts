import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { BridgeError } from "../../errors.ts";
import { PROBLEM_TYPE, toProblem } from "./problem.ts";
import { chooseRequestId } from "./request-id.ts";

/** Answers what Node refuses before there is a request: malformed, oversized or much too slow HTTP. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const answering = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage;
  // Into the middle of an answer nothing else can be written.
  if (error.code === "ECONNRESET" || !socket.writable || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  endWithProblem(socket, describe(error.code), answering?.req ?? { headers: {} });
}

/** Answers with a problem, and ends, where there is no reply to do it with. */
export function endWithProblem(socket: Duplex, refusal: BridgeError, request: Pick<IncomingMessage, "headers">): void {
  const requestId = chooseRequestId(request);
  const body = JSON.stringify(toProblem(refusal, requestId));
  const head = [
    `HTTP/1.1 ${refusal.httpStatus} ${STATUS_CODES[refusal.httpStatus]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Cache-Control: no-store",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function describe(code: string | undefined): BridgeError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new BridgeError("too_slow", "The request did not arrive in time.");
    case "HPE_HEADER_OVERFLOW":
      return new BridgeError("headers_too_large", "The headers of the request are too large.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new BridgeError("too_large", "The chunk extensions of the body are too large.");
    default:
      return new BridgeError("invalid_request", "The request is not valid HTTP.");
  }
}
