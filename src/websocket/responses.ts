import { BridgeError, type FieldError } from "../errors.ts";
import type { OpResponse } from "./op-protocol.ts";

export const ok = (payload: OpResponse["payload"]): OpResponse => ({ status: 200, payload });

export const runNotFound = (runId: string): OpResponse => ({ status: 404, payload: { runId, error: "run-not-found" } });

export const operationNotFound = (op: string): OpResponse => ({ status: 404, payload: { op, error: "operation-not-found" } });

/** The payload does not match the schema of the op. */
export const invalidRequest = (errors: readonly FieldError[]): OpResponse =>
  toErrorResponse(new BridgeError("invalid_request", "The payload is not valid.", { errors }));

/** Converts an error to a response with the status and code that it has over HTTP; the other fields become `detail`. */
export function toErrorResponse({ code, httpStatus, message, errors, retryAfterSeconds, queue }: BridgeError): OpResponse {
  const detail = {
    message,
    ...(errors.length > 0 && { errors }),
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
    ...(queue !== null && { queue }),
  };
  // The protocol names this error differently from the HTTP API.
  return { status: httpStatus, payload: { error: code === "invalid_request" ? "invalid-request" : code, detail } };
}
