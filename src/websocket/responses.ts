import { BridgeError, type FieldError } from "../errors.ts";
import type { BridgeResponse } from "./bridge-protocol.ts";

/** Done. */
export const ok = (payload: BridgeResponse["payload"]): BridgeResponse => ({ status: 200, payload });

/** The tenant has no such run. */
export const runNotFound = (runId: string): BridgeResponse => ({ status: 404, payload: { runId, error: "run-not-found" } });

/** This server does not know the op; another may. */
export const operationNotFound = (op: string): BridgeResponse => ({ status: 404, payload: { op, error: "operation-not-found" } });

/** The payload is not what the op wants. */
export const invalidRequest = (errors: readonly FieldError[]): BridgeResponse =>
  refused(new BridgeError("invalid_request", "The payload is not valid.", { errors }));

/** A refusal as it would be over HTTP: the same status, its code, and the rest as detail. */
export function refused({ code, httpStatus, message, errors, retryAfterSeconds, queue }: BridgeError): BridgeResponse {
  const detail = {
    message,
    ...(errors.length > 0 && { errors }),
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
    ...(queue !== null && { queue }),
  };
  // The protocol has its own word for this one.
  return { status: httpStatus, payload: { error: code === "invalid_request" ? "invalid-request" : code, detail } };
}
