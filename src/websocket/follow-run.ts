import { setImmediate as nextTurn } from "node:timers/promises";
import type { AdapterLogger } from "#contract";
import { BridgeError } from "../errors.ts";
import { type EventStore, isTerminal, type StoredEvent } from "../events/event-feed.ts";
import type { EventLog } from "../events/event-log.ts";
import { positionOf } from "../events/follow-events.ts";
import { encodeEnvelope } from "../http/wire/event-frame.ts";
import { readEventId } from "../http/wire/last-event-id.ts";
import { isFinal, type TaskProgress } from "../task.ts";
import type { BridgeChannel } from "./bridge-protocol.ts";

/** Maximum runs that the clients of one tenant can follow at the same time; equals the limit on event streams. */
export const MAX_FOLLOWED_PER_TENANT = 2000;
/** Events that are read at once; fewer where they are long. */
const PAGE = 50;

/** Pushes the events of runs to the clients that follow them. */
export interface RunFollower {
  /** Throws BridgeError `overloaded` when the tenant already follows the maximum number of runs. */
  checkRoom(tenant: string): void;
  /**
   * Pushes the events of a run after one of them, or from the first on, until its last event or until the channel closes. A client that follows a
   * run again on the same channel gets the new series in place of the old one. Does not check the room: a run that was accepted is followed.
   */
  follow(run: TaskProgress, options: { channel: BridgeChannel; after: number }): void;
  /** Parses the id of the last event that the client received into its number; throws BridgeError `invalid_request`. */
  readPlace(field: string, eventId: string | undefined): number;
}

/** The dependencies of a run follower. */
export interface RunFollowerOptions {
  store: Pick<EventStore, "epoch" | "lastEventNumber" | "readTaskEvents"> & {
    findTaskProgress(tenant: string, taskId: string): Promise<TaskProgress | null>;
    hasEventsAfter(taskSeq: number, number: number): Promise<boolean>;
  };
  eventLog: Pick<EventLog, "subscribe" | "formatId">;
  logger: Pick<AdapterLogger, "error">;
}

/**
 * Creates the follower of runs. It reads every event from the store at the client's pace: a slow client costs one page of memory, loses no event and
 * does not delay other clients. The log only signals new events.
 */
export function createRunFollower({ store, eventLog, logger }: RunFollowerOptions): RunFollower {
  const wakers = new Map<number, Set<() => void>>();
  const perTenant = new Map<string, number>();
  const followed = new WeakMap<BridgeChannel, Map<number, AbortController>>();
  eventLog.subscribe((events) => {
    for (const { task } of events) for (const wake of wakers.get(task.seq) ?? []) wake();
  });

  /** Calls `wake` at each event of the run; the returned function stops this. */
  function listen(seq: number, wake: () => void): () => void {
    const listeners = wakers.get(seq) ?? new Set();
    wakers.set(seq, listeners.add(wake));
    return () => {
      listeners.delete(wake);
      if (listeners.size === 0 && wakers.get(seq) === listeners) wakers.delete(seq);
    };
  }

  async function pushEvents(run: TaskProgress, after: number, { channel, signal }: { channel: BridgeChannel; signal: AbortSignal }) {
    const { seq, tenant, taskId } = run;
    let more = Promise.withResolvers<void>();
    const wake = (): void => more.resolve();
    const stopListening = listen(seq, wake);
    signal.addEventListener("abort", wake, { once: true });
    const push = (eventJson: string, rest = "") =>
      channel.push(`{"op":"agent.event","payload":{"runId":${JSON.stringify(taskId)},"event":${eventJson}${rest}}}`);
    try {
      for (let position = after; !signal.aborted; ) {
        // Created before the read, so that an event that arrives during the read is not missed.
        more = Promise.withResolvers<void>();
        const events = await store.readTaskEvents(seq, position, PAGE, { callbacks: false });
        for (const event of events) {
          if (signal.aborted) return;
          await push(encode(event));
          position = event.number;
          if (isTerminal(event)) return;
        }
        if (events.length > 0) continue;
        const now = await store.findTaskProgress(tenant, taskId);
        if (now?.seq !== seq) return await push("null", ',"error":"run-not-found"');
        if (isFinal(now.state) && !(await store.hasEventsAfter(seq, position))) return;
        if (!signal.aborted) await more.promise;
      }
    } finally {
      stopListening();
      signal.removeEventListener("abort", wake);
    }
  }

  const encode = (event: StoredEvent): string => encodeEnvelope(event, eventLog.formatId(event.number));

  function checkRoom(tenant: string): void {
    if ((perTenant.get(tenant) ?? 0) >= MAX_FOLLOWED_PER_TENANT)
      throw new BridgeError(
        "overloaded",
        `This tenant already follows ${MAX_FOLLOWED_PER_TENANT} runs over WebSockets, the maximum. Try again when some of them have ended.`,
      );
  }

  return {
    checkRoom,
    follow(run, { channel, after }) {
      const { tenant, seq } = run;
      const ofChannel = followed.get(channel) ?? new Map<number, AbortController>();
      followed.set(channel, ofChannel);
      ofChannel.get(seq)?.abort();
      const controller = new AbortController();
      ofChannel.set(seq, controller);
      perTenant.set(tenant, (perTenant.get(tenant) ?? 0) + 1);
      const signal = AbortSignal.any([controller.signal, channel.signal]);
      // Send the answer to the request first.
      void nextTurn()
        .then(() => pushEvents(run, after, { channel, signal }))
        .catch((error: unknown) => logger.error({ err: error, taskId: run.taskId, tenant }, "failed to push the events of a run"))
        .finally(() => {
          if (ofChannel.get(seq) === controller) ofChannel.delete(seq);
          const count = (perTenant.get(tenant) ?? 1) - 1;
          if (count === 0) perTenant.delete(tenant);
          else perTenant.set(tenant, count);
        });
    },
    readPlace(field, eventId) {
      if (eventId === undefined) return 0;
      const place = positionOf(store, readEventId(field, eventId));
      if (place !== null) return place;
      throw new BridgeError("invalid_request", "The event id is not of this log.", {
        errors: [{ path: field, message: "names no event that this Bridge has known" }],
      });
    },
  };
}
