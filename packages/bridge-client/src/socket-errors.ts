import { BridgeClientError, type FieldError } from "./bridge-client-error.ts";

/** The answer to a request. `status` has the meaning of an HTTP status. */
export interface SocketAnswer {
  requestId: string;
  status: number;
  payload: object;
}

/** Fields of the payload of an error. */
interface ErrorPayload {
  error?: string;
  detail?: { message: string; errors?: FieldError[]; retryAfterSeconds?: number; queue?: "bridge" | "tenant" | "agent" };
}

/** Close code for a frame that is longer than Bridge permits. */
const TOO_LONG = 1009;
/** Close codes for messages that break the WebSocket protocol. A repetition would break it again. */
const VIOLATIONS: readonly number[] = [1002, 1003, 1007, 1008, 1010];

/** Creates the error for an answer that is not a success. */
export function createAnswerError({ requestId, status, payload }: SocketAnswer): BridgeClientError {
  const { error = "unexpected_answer", detail } = payload as ErrorPayload;
  return new BridgeClientError(error, detail?.message ?? `Bridge answered with ${status} ${error}.`, {
    status,
    requestId,
    errors: detail?.errors,
    queue: detail?.queue,
    retryAfterMs: detail?.retryAfterSeconds === undefined ? null : detail.retryAfterSeconds * 1000,
  });
}

/** Creates the error for a closed WebSocket. Its code is `unreachable` if a new connection can help. */
export function createCloseError(closeCode: number, reason: string): BridgeClientError {
  const code = VIOLATIONS.includes(closeCode) ? "protocol_violation" : "unreachable";
  return new BridgeClientError(code, `The WebSocket was closed with ${closeCode}${reason === "" ? "" : ` ${reason}`}.`, { closeCode });
}

/** Creates the error of the request whose frame was too long; null for all other close codes. */
export function createTooLongError(closeCode: number): BridgeClientError | null {
  if (closeCode !== TOO_LONG) return null;
  return new BridgeClientError("too_large", "The request is longer than Bridge accepts (BRIDGE_BODY_LIMIT). Send a shorter one.", {
    closeCode,
  });
}

/** Creates the error for a connection that could not be opened, or receives nothing. */
export const createUnreachableError = (reason: string): BridgeClientError =>
  new BridgeClientError("unreachable", `Cannot reach Bridge over the WebSocket: ${reason}.`);
