import { BridgeClientError } from "./bridge-client-error.ts";
import type { BridgeEvent } from "./events.ts";

/** Maximum characters of the events that wait in an inbox, unless a single event is longer. */
const MAX_WAITING_CHARACTERS = 4 * 1024 ** 2;

/** The received events of one run that the caller has not read yet. */
export type EventInbox = ReturnType<typeof createEventInbox>;

/**
 * Creates a closed inbox. A WebSocket cannot be paused, so a full inbox drops all further events. The caller reads the rest, and then
 * requests the dropped events again.
 */
export function createEventInbox(maxEvents: number) {
  let waiting: { event: BridgeEvent; length: number }[] = [];
  let characters = 0;
  let isOpen = false;
  let hasDropped = false;
  let failure: unknown = null;
  let wake = (): void => {};

  const isFull = (length: number): boolean =>
    waiting.length >= maxEvents || (waiting.length > 0 && characters + length > MAX_WAITING_CHARACTERS);

  return {
    /** Drops the waiting events, and all further ones until `open`. */
    reset(): void {
      waiting = [];
      characters = 0;
      isOpen = false;
      hasDropped = false;
    },
    open(): void {
      isOpen = true;
    },
    /** Adds an event whose JSON has this length; null if the run was deleted. */
    receive(event: BridgeEvent | null, length: number): void {
      if (!isOpen || hasDropped) return;
      if (event === null) failure = new BridgeClientError("run-not-found", "The run was deleted.", { status: 404 });
      else if (isFull(length)) hasDropped = true;
      else {
        waiting.push({ event, length });
        characters += length;
      }
      wake();
    },
    /** Makes `next` throw this error after it has returned the waiting events. */
    fail(error: unknown): void {
      failure = error;
      wake();
    },
    /** Returns the next event. Null if the next events were dropped, or if none arrives within `silenceMs`. */
    async next(silenceMs: number, signal: AbortSignal): Promise<BridgeEvent | null> {
      if (waiting.length === 0 && failure === null && !hasDropped) await waitForEvent(silenceMs, signal);
      signal.throwIfAborted();
      const next = waiting.shift();
      if (next !== undefined) {
        characters -= next.length;
        return next.event;
      }
      if (failure !== null) throw failure;
      return null;
    },
  };

  async function waitForEvent(silenceMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, silenceMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (signal.aborted) wake();
      else signal.addEventListener("abort", wake, { once: true });
    });
    signal.removeEventListener("abort", wake);
    wake = () => {};
  }
}
