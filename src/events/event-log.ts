import type { AdapterLogger, EventType } from "#contract";
import type { Metrics } from "../metrics.ts";
import type { Store } from "../store/store.ts";
import type { TaskIdentity, TaskRun } from "../task.ts";
import { createEventBuffers, type DropReason } from "./event-buffers.ts";
import { formatEventId } from "./event-id.ts";
import { callAll, createLiveFeeds, type EventListener } from "./live-feeds.ts";

export type EventLog = ReturnType<typeof createEventLog>;

/** Creates the event log of all tasks. It becomes the only event listener of the store. */
export function createEventLog({ store, metrics, logger }: { store: Store; metrics: Metrics; logger: AdapterLogger }) {
  const buffers = createEventBuffers({ store, logger, onDropped: drop });
  const listeners = new Set<EventListener>();
  let closed = false;

  // The events are committed, so an error must not reach the code that commits.
  const onError = (error: unknown): void => logger.error({ err: error }, "event listener failed");
  const liveFeeds = createLiveFeeds(onError);

  store.onEvents((events) => {
    callAll(listeners, events, onError);
    liveFeeds.publish(events);
  }, liveFeeds.needsAll);

  /**
   * Appends one event of a running task; never throws. Combines text deltas, cuts oversized data, and keeps the order of each task. Drops
   * and counts events that cannot be stored.
   */
  function append(task: TaskRun, { type, data }: { type: EventType; data: Record<string, unknown> }): void {
    const content = type === "assistant.text" ? data["content"] : undefined;
    if (closed) drop(task, "late", 1);
    else if (typeof content === "string") buffers.appendText(task, content);
    else buffers.appendWhole(task, type, data);
  }

  function drop(task: TaskIdentity, reason: DropReason, count: number): void {
    metrics.eventsDropped.inc({ provider: task.provider, reason }, count);
  }

  return {
    append,
    flush: buffers.flush,
    /** Calls the listener after each commit; of other processes, at least with the essential events. The result unsubscribes it. */
    subscribe(listener: EventListener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Calls the listener synchronously after each commit with events of the feed. Returns the function that unsubscribes it. */
    follow: liveFeeds.follow,
    /** `<epoch>-<number>`, with the current epoch. */
    formatId: (number: number): string => formatEventId({ epoch: store.epoch, number }),
    /** Stores the buffered events, and drops later ones. */
    async close(): Promise<void> {
      closed = true;
      await buffers.flushAll();
    },
  };
}
