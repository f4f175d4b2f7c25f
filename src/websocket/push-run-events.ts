import { sleep } from "@hak2i/async-kit";
import { PAGE_BYTES } from "../access/client-memory.ts";
import { BridgeError } from "../errors.ts";
import { type EventStore, isTerminal } from "../events/event-feed.ts";
import { type EventId, formatEventId } from "../events/event-id.ts";
import type { EventLog } from "../events/event-log.ts";
import { encodeEventJson } from "../http/wire/encode-event.ts";
import { isFinal, type TaskProgress } from "../task.ts";
import type { OpChannel } from "./op-protocol.ts";

/** Maximum events per read of the store; long events make pages shorter. */
const PAGE_SIZE = 50;
/** Time after which the events are read again if the database did not answer. */
const READ_AGAIN_MS = 1_000;

/** The part of the store that the pushes read. */
export interface RunStore extends Pick<EventStore, "epoch" | "readTaskEvents"> {
  findTaskProgress(tenant: string, taskId: string): Promise<TaskProgress | null>;
  hasEventsAfter(taskSeq: number, number: number): Promise<boolean>;
}

interface PushParts {
  store: RunStore;
  eventLog: Pick<EventLog, "follow">;
  channel: OpChannel;
  /** Ends the pushes. */
  signal: AbortSignal;
}

/**
 * Pushes the events of a run to a client. Reads them from the store at the client's pace, so that a slow client occupies no memory while it
 * waits, misses no event and does not delay other clients. The event log only signals new events.
 */
export async function pushRunEvents(
  run: TaskProgress,
  after: EventId | null,
  { store, eventLog, channel, signal }: PushParts,
): Promise<void> {
  const { seq, tenant, taskId } = run;
  let nextEvent = Promise.withResolvers<void>();
  const wake = (): void => nextEvent.resolve();
  const stopListening = eventLog.follow({ tenant, taskId, key: `run ${seq}`, matches: ({ task }) => task.seq === seq }, wake);
  signal.addEventListener("abort", wake, { once: true });
  let position = after;
  let isOver = false;

  /** Reads the next events of the run, and encodes them as messages. */
  async function readPage(): Promise<string[]> {
    if (signal.aborted) return [];
    const { epoch } = store;
    // After a change of the epoch, the numbers of events may repeat, so that all events of the run are sent again with new ids.
    const start = startOf(position, epoch);
    const events = await store.readTaskEvents(seq, start, PAGE_SIZE, "execution");
    if (store.epoch !== epoch || signal.aborted) return [];
    const last = events.at(-1);
    if (last !== undefined) {
      position = { epoch, number: last.number };
      isOver = isTerminal(last);
      return events.map((event) => encodePush(taskId, encodeEventJson(event, formatEventId({ epoch, number: event.number }))));
    }
    const current = await store.findTaskProgress(tenant, taskId);
    isOver = current?.seq !== seq || (await hasEnded(store, current, position));
    return current?.seq === seq ? [] : [encodePush(taskId, "null", ',"error":"run-not-found"')];
  }

  try {
    while (!signal.aborted && !isOver) {
      // Created before the read, so that an event that arrives during the read is not missed.
      nextEvent = Promise.withResolvers<void>();
      const [before, epochBefore] = [position, store.epoch];
      if (!(await isRead(channel.push(PAGE_BYTES, readPage)))) {
        await sleep(READ_AGAIN_MS, signal).catch(() => {});
        continue;
      }
      const hasRead = position !== before || store.epoch !== epochBefore;
      if (!signal.aborted && !isOver && !hasRead) await nextEvent.promise;
    }
  } finally {
    stopListening();
    signal.removeEventListener("abort", wake);
  }
}

/** Whether a run has ended and has no event after this position, so that a follower receives nothing. */
export async function hasEnded(store: RunStore, { state, seq }: TaskProgress, after: EventId | null): Promise<boolean> {
  return isFinal(state) && !(await store.hasEventsAfter(seq, startOf(after, store.epoch)));
}

/** The number of the last event that the client received; 0 for a position of another epoch, whose numbers mean other events. */
const startOf = (position: EventId | null, epoch: string): number => (position?.epoch === epoch ? position.number : 0);

/** Resolves to false if the database does not answer. */
const isRead = (pushed: Promise<void>): Promise<boolean> =>
  pushed.then(
    () => true,
    (error: unknown) => {
      if (error instanceof BridgeError && error.code === "storage_unavailable") return false;
      throw error;
    },
  );

const encodePush = (runId: string, eventJson: string, rest = ""): string =>
  `{"op":"agent.event","payload":{"runId":${JSON.stringify(runId)},"event":${eventJson}${rest}}}`;
