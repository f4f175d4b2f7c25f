import { BridgeClientError } from "./bridge-client-error.ts";
import type { EventInbox } from "./event-inbox.ts";
import type { BridgeEvent } from "./events.ts";
import { type AskOptions, createPendingRequests } from "./pending-requests.ts";
import { createAnswerError, createCloseError, createTooLongError, createUnreachableError, type SocketAnswer } from "./socket-errors.ts";

/** Options of a connection. */
export interface SocketConnectionOptions {
  /** Closes a connection that receives nothing for this long while an answer is expected. */
  silenceMs: number;
  parseJson: (text: string) => unknown;
  /** Called once, when the connection is lost or closed. */
  onClose(): void;
  /** Closes the connection. Its reason is the error of all calls. */
  signal: AbortSignal;
}

/** A message of Bridge that is not an answer. */
interface Push {
  op: string;
  payload: { runId: string; event: BridgeEvent | null };
}

/** An open WebSocket. */
export type SocketConnection = Awaited<ReturnType<typeof openSocketConnection>>;

/** Opens a WebSocket. Rejects with `unreachable` if it cannot be opened. */
export async function openSocketConnection(url: string, { silenceMs, parseJson, onClose, signal }: SocketConnectionOptions) {
  signal.throwIfAborted();
  const socket = new WebSocket(url);
  const requests = createPendingRequests();
  const inboxes = new Map<string, EventInbox>();
  let failure: unknown = null;
  let lastReceivedAt = performance.now();
  let rejectOpening = (_error: unknown): void => {};
  const onAbort = (): void => fail(signal.reason);
  signal.addEventListener("abort", onAbort);

  function fail(error: unknown): void {
    if (failure !== null) return;
    failure = error;
    signal.removeEventListener("abort", onAbort);
    rejectOpening(error);
    requests.rejectAll(error);
    for (const inbox of inboxes.values()) inbox.fail(error);
    socket.close();
    onClose();
  }

  function receive(text: string): void {
    lastReceivedAt = performance.now();
    const message = parseMessage(text, parseJson);
    if (message === null)
      fail(new BridgeClientError("unexpected_answer", `The WebSocket received a message that is not from Bridge: ${text.slice(0, 200)}`));
    else if ("requestId" in message) receiveAnswer(message);
    // Clients ignore unknown messages.
    else if (message.op === "agent.event") inboxes.get(message.payload.runId)?.receive(message.payload.event, text.length);
  }

  function receiveAnswer(message: SocketAnswer): void {
    const request = requests.take(message.requestId);
    if (message.status >= 200 && message.status < 300) request?.resolve(message.payload);
    else if (request !== undefined) request.reject(createAnswerError(message));
    // Bridge does not parse a frame with too many values, so its answer has an id that no request has.
    else requests.rejectLongest(createAnswerError(message));
  }

  /** Closes the connection if it receives nothing for `limitMs`. Returns a function that stops this check. */
  function watch(limitMs: number): () => void {
    const startedAt = performance.now();
    const check = (): void => {
      const remainingMs = Math.max(startedAt, lastReceivedAt) + limitMs - performance.now();
      if (remainingMs <= 0) fail(createUnreachableError(`no data received for ${limitMs / 1000} s`));
      else timer = setTimeout(check, remainingMs);
    };
    let timer = setTimeout(check, limitMs);
    return () => clearTimeout(timer);
  }

  const stopWatch = watch(silenceMs);
  socket.onmessage = ({ data }) => receive(String(data));
  socket.onerror = () => fail(createUnreachableError("the connection failed"));
  socket.onclose = ({ code, reason }) => {
    const tooLong = createTooLongError(code);
    if (tooLong !== null) requests.rejectLongest(tooLong);
    fail(createCloseError(code, reason));
  };
  await new Promise<void>((resolve, reject) => {
    rejectOpening = reject;
    socket.onopen = () => resolve();
  }).finally(stopWatch);

  return {
    /** Sends a request. Resolves with the payload of its answer, and rejects with a `BridgeClientError` for an error. */
    async ask<T>(op: string, payload: object, options: AskOptions): Promise<T> {
      if (failure !== null) throw failure;
      options.signal.throwIfAborted();
      const send = (requestId: string): number => {
        const frame = JSON.stringify({ requestId, op, payload });
        socket.send(frame);
        return frame.length;
      };
      return requests.add<T>(send, () => watch(silenceMs + (options.waitMs ?? 0)), options);
    },
    /** Passes the events of a run to the inbox, until the returned function is called. Throws `already_followed`. */
    deliver(runId: string, inbox: EventInbox): () => void {
      if (inboxes.has(runId))
        throw new BridgeClientError("already_followed", `This client already follows ${runId}. Use another client to follow it twice.`);
      inboxes.set(runId, inbox);
      return () => void inboxes.delete(runId);
    },
  };
}

function parseMessage(text: string, parseJson: (text: string) => unknown): SocketAnswer | Push | null {
  try {
    const message = parseJson(text) as SocketAnswer | Push | null;
    return typeof message?.payload === "object" && message.payload !== null ? message : null;
  } catch {
    return null;
  }
}
