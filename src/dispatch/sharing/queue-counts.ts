import type { Logger } from "pino";
import { isTerminal } from "../../events/event-feed.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { Store } from "../../store/store.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { pauseAfterReading } from "./pause-after-reading.ts";

interface QueueCountsOptions {
  eventLog: Pick<EventLog, "subscribe">;
  store: Pick<Store, "countQueuedTasks">;
  scheduler: Pick<Scheduler, "beginReading" | "applyCounts" | "noteEnd" | "getLane">;
  fillSlots(provider: string): void;
  logger: Logger;
}

/** How often the counts are read without a hint. */
const INTERVAL_MS = 1_000;

/** Creates the reading of what other nodes have queued, which starts tasks that this node may start. */
export function createQueueCounts({ store, eventLog, scheduler, fillSlots, logger }: QueueCountsOptions) {
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;
  let isHinted = false;
  let isClosed = false;
  /** By the monotonic clock. */
  let mayReadAt = 0;

  async function read(): Promise<void> {
    clearTimeout(timer);
    isReading = true;
    isHinted = false;
    const startedAt = performance.now();
    try {
      scheduler.beginReading();
      for (const provider of scheduler.applyCounts(await store.countQueuedTasks())) fillSlots(provider);
    } catch (error) {
      if (!isClosed) logger.warn({ err: error }, "failed to count queued tasks");
    }
    isReading = false;
    const pauseMs = pauseAfterReading(performance.now() - startedAt);
    mayReadAt = performance.now() + pauseMs;
    wait(isHinted ? pauseMs : Math.max(INTERVAL_MS, pauseMs));
  }

  function wait(ms: number): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void read(), ms);
  }

  // The end of a task on another node may permit a task of the tenant to start here.
  eventLog.subscribe((events) => {
    for (const { task } of events.filter(isTerminal)) for (const provider of scheduler.noteEnd(task.tenant)) fillSlots(provider);
  });

  return {
    start: (): void => wait(INTERVAL_MS),
    /** Call it when another node has queued a task of the provider. A node without a free slot does not need to know at once. */
    onHint(provider: string): void {
      const { running, maxConcurrent } = scheduler.getLane(provider);
      if (isHinted || isClosed || running >= maxConcurrent) return;
      isHinted = true;
      if (!isReading) wait(Math.max(0, mayReadAt - performance.now()));
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
