import { BridgeClientError, type BridgeEvent, createBridgeClient, type EventType, parseExactJson } from "bridge-client";
import { bridgeUrl } from "../base-url.ts";

/** Types of the events that lists need. Deltas, tool calls and progress are followed on the page of a task only. */
const LIST_TYPES: readonly EventType[] = [
  "execution.started",
  "execution.completed",
  "execution.failed",
  "tool.approval_requested",
  "tool.approval_resolved",
  "callback.delivered",
  "callback.dead",
];

/** An event without its long texts. */
export interface FeedEvent {
  type: EventType;
  taskId: string;
  agentId: string;
  provider: string;
  timestamp: string;
  errorCode: string | null;
  approvalId: string | null;
}

/** Receives events in batches, or null when events are missing. */
export type FeedListener = (events: readonly FeedEvent[] | null) => void;
export type Feed = ReturnType<typeof createFeed>;

/** A page that is hidden for this long closes its stream. */
const HIDDEN_LIMIT_MS = 60_000;
/** Events are delivered together, because each delivery can cause a paint. */
const BATCH_MS = 50;
/** Pause before a reconnect; at most 20 times as long after repeated failures. */
const RETRY_MS = 150;

/** What the tab that reads the stream sends to the other tabs of this browser. */
interface TabMessage {
  events: readonly FeedEvent[] | null;
  lastId: string | undefined;
}

/**
 * Follows the events that lists need. All tabs with the same token share one stream, because a browser opens at most six connections to a
 * server over HTTP/1.1: the tab that has the lock reads, and the others listen to it. Without secure context there are no locks, and each
 * tab reads its own stream. When Bridge rejects the token, the stream continues if `confirmToken` resolves with true.
 */
export function createFeed(token: string, confirmToken: () => Promise<boolean>) {
  const settings = { retryDelayMs: RETRY_MS, patienceMs: Number.MAX_SAFE_INTEGER, parseJson: parseExactJson };
  const client = createBridgeClient({ url: bridgeUrl, token, ...settings });
  const listeners = new Set<FeedListener>();
  let reading: AbortController | null = null;
  let channel: BroadcastChannel | null = null;
  let lastId: string | undefined;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  const deliver = (events: readonly FeedEvent[] | null): void => {
    for (const listener of listeners) listener(events);
  };
  function publish(events: readonly FeedEvent[] | null): void {
    deliver(events);
    channel?.postMessage({ events, lastId } satisfies TabMessage);
  }
  const batch = createBatch(publish);

  async function read(signal: AbortSignal): Promise<void> {
    const onGap = (): void => publish(null);
    const options = lastId === undefined ? { signal, onGap } : { signal, onGap, after: lastId };
    for await (const event of client.events({ types: LIST_TYPES }, options)) {
      lastId = event.id;
      batch.add(slim(event));
    }
  }

  async function open(controller: AbortController): Promise<void> {
    const { signal } = controller;
    try {
      const name = await nameOfStream(token);
      signal.throwIfAborted();
      if (name === null) return await read(signal);
      channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
        lastId = data.lastId;
        deliver(data.events);
      };
      await navigator.locks.request(name, { signal }, () => read(signal));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof BridgeClientError && error.status === 401) return await retry(controller);
      console.error("The event stream failed.", error);
    }
  }

  async function retry(controller: AbortController): Promise<void> {
    channel?.close();
    channel = null;
    const isAccepted = await confirmToken();
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (isAccepted && !controller.signal.aborted) await open(controller);
  }

  function start(): void {
    if (reading !== null) return;
    reading = new AbortController();
    void open(reading);
  }
  function stop(): void {
    reading?.abort();
    reading = null;
    channel?.close();
    channel = null;
  }
  function onVisibilityChange(): void {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(stop, HIDDEN_LIMIT_MS);
    else if (reading === null) {
      start();
      // Other tabs may have read events in the meantime, so the lists load again.
      deliver(null);
    }
  }

  document.addEventListener("visibilitychange", onVisibilityChange);
  start();
  return {
    /** Calls the listener until the returned function is called. */
    subscribe(listener: FeedListener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Follows all events of one task, from its first one. */
    followTask: (taskId: string, options: { signal: AbortSignal; onGap: () => void; after?: string }): AsyncGenerator<BridgeEvent, void> =>
      client.events(taskId, options),
    close(): void {
      document.removeEventListener("visibilitychange", onVisibilityChange);
      clearTimeout(hiddenTimer);
      batch.close();
      listeners.clear();
      stop();
    },
  };
}

/** Collects the events of a moment. */
function createBatch(publish: (events: readonly FeedEvent[]) => void) {
  let events: FeedEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  function flush(): void {
    timer = undefined;
    const batch = events;
    events = [];
    publish(batch);
  }
  return {
    add(event: FeedEvent): void {
      events.push(event);
      timer ??= setTimeout(flush, BATCH_MS);
    },
    close: (): void => clearTimeout(timer),
  };
}

/** Returns the name that tabs with the same token share; null if the browser offers no locks to this page. */
async function nameOfStream(token: string): Promise<string | null> {
  if (!isSecureContext) return null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`bridge stream ${token}`));
  return `bridge-${Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function slim({ type, taskId, agentId, provider, timestamp, data }: BridgeEvent): FeedEvent {
  const { errorCode = null, approvalId = null } = data as { errorCode?: string; approvalId?: string };
  return { type, taskId, agentId, provider, timestamp, errorCode, approvalId };
}
