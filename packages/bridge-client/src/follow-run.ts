import { type BackoffOptions, createBackoff } from "./backoff.ts";
import { BridgeClientError } from "./bridge-client-error.ts";
import { createEventInbox } from "./event-inbox.ts";
import { type BridgeEvent, isTerminal } from "./events.ts";
import { isRetryable } from "./retry.ts";
import type { SocketConnection } from "./socket-connection.ts";

/** Options of a followed run. */
export interface FollowOptions {
  /** Id of the last received event. Default: start with the first event. */
  after: string | undefined;
  signal: AbortSignal;
  maxWaitingEvents: number;
  silenceMs: number;
  /** Returns the open connection, or opens a new one. */
  connect(signal: AbortSignal): Promise<SocketConnection>;
}

/**
 * Follows the events of a run across disconnects and restarts of Bridge. It subscribes again after the last event that the caller received,
 * so no event is lost or repeated. Ends after the terminal event.
 */
export async function* followRun(runId: string, options: FollowOptions & BackoffOptions): AsyncGenerator<BridgeEvent, void> {
  const { signal, maxWaitingEvents, silenceMs, connect } = options;
  const backoff = createBackoff(options);
  let lastId = options.after;
  for (;;) {
    let failure: BridgeClientError;
    try {
      const connection = await connect(signal);
      const inbox = createEventInbox(maxWaitingEvents);
      const stopDelivery = connection.deliver(runId, inbox);
      try {
        // Each iteration subscribes once: at the start, after the inbox was full, and to check a connection that is silent.
        for (;;) {
          // Until Bridge answers the new subscription, events of the earlier one can arrive. The inbox drops them.
          inbox.reset();
          const subscribe = { signal, onSuccess: inbox.open };
          const { ended = false } = await connection.ask<{ ended?: boolean }>("agent.events", { runId, after: lastId }, subscribe);
          if (ended) return;
          // Not only after an event, because a run can be silent for longer than `patienceMs` between two lost connections.
          backoff.reset();
          for (let event = await inbox.next(silenceMs, signal); event !== null; event = await inbox.next(silenceMs, signal)) {
            lastId = event.id;
            yield event;
            if (isTerminal(event)) return;
          }
        }
      } finally {
        stopDelivery();
      }
    } catch (error) {
      if (!isRetryable(error, true)) throw isUnknownPosition(error) ? createGapError() : error;
      failure = error;
    }
    await backoff.wait(failure, signal);
  }
}

/** Bridge does not know the event id, for example because its database was restored. */
const isUnknownPosition = (error: unknown): boolean =>
  error instanceof BridgeClientError && error.status === 400 && error.errors[0]?.path === "after";

const createGapError = (): BridgeClientError =>
  new BridgeClientError(
    "stream_gap",
    "Bridge does not know the event in `after`. Follow the run without `after` to start with its first event.",
  );
