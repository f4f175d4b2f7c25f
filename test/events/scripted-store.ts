import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventStore, StoredEvent } from "../../src/events/event-feed.ts";
import { createLiveFeeds } from "../../src/events/live-feeds.ts";
import type { TaskIdentity } from "../../src/task.ts";

const PAGE_SIZE = 3;
const task: TaskIdentity = { seq: 1, tenant: "default", taskId: "t", parentTaskId: null, agentId: "agent", provider: "command" };

/**
 * Creates the store of one of several processes. Other processes commit events. Pages contain these events at once, and the store publishes
 * them later. A failover can lose the last events, and then changes the epoch.
 */
export function createScriptedStore() {
  let timeline = 1;
  let committed: StoredEvent[] = [];
  let published = 0;
  let commits = 0;
  let catchUps = 0;
  const liveFeeds = createLiveFeeds((error) => {
    throw error;
  });

  function publish(count = committed.length): void {
    const events = committed.slice(published, published + count);
    published += events.length;
    if (events.length > 0) liveFeeds.publish(events);
  }

  /** Reads a page at once, and returns it one turn later, so that other operations can happen in between. */
  async function readPage(after: number): Promise<StoredEvent[]> {
    const page = committed.filter(({ number }) => number > after).slice(0, PAGE_SIZE);
    await nextTurn();
    return page;
  }

  const store: EventStore = {
    get epoch() {
      return `timeline${timeline}`;
    },
    lastEventNumber: () => published,
    async catchUp() {
      catchUps += 1;
      await nextTurn();
      publish();
      return published;
    },
    async readEvents(after) {
      const last = published;
      const events = await readPage(after);
      return { events, through: events.at(-1)?.number ?? Math.max(after, last) };
    },
    readTaskEvents: (_taskSeq, after) => readPage(after),
    firstEventFrom: async (from) => committed.find(({ number }) => number >= from) ?? null,
    oldestEventNumber: async () => committed[0]?.number ?? null,
    prunedThrough: async () => 0,
    isTaskKept: async () => true,
  };

  return {
    store,
    task,
    eventLog: { follow: liveFeeds.follow },
    /** Commits events, each with different data, without publishing them. */
    commit(count: number): void {
      for (let index = 0; index < count; index += 1) {
        commits += 1;
        committed.push({ number: committed.length + 1, task, type: "execution.progress", at: 0, data: `{"commit":${commits}}` });
      }
    },
    /** Publishes the next committed events. Default: all. */
    publish,
    /** Loses the last committed events and changes the epoch. */
    failOver(lost: number): void {
      committed = committed.slice(0, Math.max(0, committed.length - lost));
      published = Math.min(published, committed.length);
      timeline += 1;
    },
    committed: (): readonly StoredEvent[] => committed,
    countCatchUps: () => catchUps,
  };
}
