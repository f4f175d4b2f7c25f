import { setImmediate as nextTurn } from "node:timers/promises";
import { sleep } from "@hak2i/async-kit";
import type { AdapterLogger } from "#contract";
import { PAGE_BYTES } from "../access/client-memory.ts";
import { BridgeError } from "../errors.ts";
import { type EventStore, isTerminal } from "../events/event-feed.ts";
import { type EventId, formatEventId } from "../events/event-id.ts";
import type { EventLog } from "../events/event-log.ts";
import { positionOf } from "../events/follow-events.ts";
import { encodeEventJson } from "../http/wire/encode-event.ts";
import { parseEventIdField } from "../http/wire/last-event-id.ts";
import { isFinal, type TaskProgress } from "../task.ts";
import type { OpChannel } from "./op-protocol.ts";

/** Maximum runs that the clients of one tenant can follow at the same time; equals the limit of event streams. */
export const MAX_FOLLOWED_PER_TENANT = 2000;
/** Maximum events per read of the store; long events make pages shorter. */
const PAGE_SIZE = 50;
/** Time after which the events are read again if the database did not answer. */
const READ_AGAIN_MS = 1_000;

export type RunFollower = ReturnType<typeof createRunFollower>;

/** Options of the follower. */
export interface RunFollowerOptions {
  store: Pick<EventStore, "epoch" | "lastEventNumber" | "catchUp" | "readTaskEvents"> & {
    findTaskProgress(tenant: string, taskId: string): Promise<TaskProgress | null>;
    hasEventsAfter(taskSeq: number, number: number): Promise<boolean>;
  };
  eventLog: Pick<EventLog, "follow">;
  logger: Pick<AdapterLogger, "error">;
}

/**
 * Creates the follower, which pushes the events of runs to clients. It reads the events from the store at the client's
 * pace, so that a slow client occupies no memory while it waits, misses no event and does not delay other clients. The
 * event log only signals new events.
 */
export function createRunFollower({ store, eventLog, logger }: RunFollowerOptions) {
  const countByTenant = new Map<string, number>();
  const controllers = new WeakMap<OpChannel, Map<number, AbortController>>();

  async function pushEvents(run: TaskProgress, after: EventId | null, { channel, signal }: { channel: OpChannel; signal: AbortSignal }) {
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
      isOver = current?.seq !== seq || (await hasEnded(current, position));
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
  async function hasEnded({ state, seq }: TaskProgress, after: EventId | null): Promise<boolean> {
    return isFinal(state) && !(await store.hasEventsAfter(seq, startOf(after, store.epoch)));
  }

  /** Throws BridgeError `overloaded` if the tenant already follows the maximum number of runs. */
  function checkCanFollow(tenant: string): void {
    if ((countByTenant.get(tenant) ?? 0) >= MAX_FOLLOWED_PER_TENANT)
      throw new BridgeError(
        "overloaded",
        `This tenant follows the maximum of ${MAX_FOLLOWED_PER_TENANT} runs over WebSockets. Try again when one of them has ended.`,
      );
  }

  return {
    checkCanFollow,
    hasEnded,
    /**
     * Pushes the events of a run, starting after the event with the id `after` or, if it is null, with the first event.
     * Stops after the last event of the run, or when the channel closes. If the channel already follows the run, the new
     * position replaces the old one. Does not check the limit, so that an accepted run is always followed.
     */
    follow(run: TaskProgress, { channel, after }: { channel: OpChannel; after: EventId | null }): void {
      const { tenant, seq } = run;
      const followedRuns = controllers.get(channel) ?? new Map<number, AbortController>();
      controllers.set(channel, followedRuns);
      followedRuns.get(seq)?.abort();
      const controller = new AbortController();
      followedRuns.set(seq, controller);
      countByTenant.set(tenant, (countByTenant.get(tenant) ?? 0) + 1);
      const signal = AbortSignal.any([controller.signal, channel.signal]);
      // The response to the request is sent first.
      void nextTurn()
        .then(() => pushEvents(run, after, { channel, signal }))
        .catch((error: unknown) => {
          // A read can fail because Bridge stops, which has closed the channel before.
          if (!signal.aborted) logger.error({ err: error, taskId: run.taskId, tenant }, "failed to push the events of a run");
        })
        .finally(() => {
          if (followedRuns.get(seq) === controller) followedRuns.delete(seq);
          const count = (countByTenant.get(tenant) ?? 1) - 1;
          if (count === 0) countByTenant.delete(tenant);
          else countByTenant.set(tenant, count);
        });
    },
    /** Parses the id of the last event that the client received; null if there is none. Throws BridgeError `invalid_request`. */
    async parsePosition(field: string, eventId: string | undefined): Promise<EventId | null> {
      if (eventId === undefined) return null;
      const position = await positionOf(store, parseEventIdField(field, eventId));
      if (position !== null) return position;
      throw new BridgeError("invalid_request", "The event id is unknown.", {
        errors: [{ path: field, message: "must be the id of an event of this Bridge" }],
      });
    },
  };
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
