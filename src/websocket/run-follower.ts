import { setImmediate as nextTurn } from "node:timers/promises";
import type { AdapterLogger } from "#contract";
import { BridgeError } from "../errors.ts";
import type { EventStore } from "../events/event-feed.ts";
import type { EventId } from "../events/event-id.ts";
import type { EventLog } from "../events/event-log.ts";
import { positionOf } from "../events/follow-events.ts";
import { parseEventIdField } from "../http/wire/last-event-id.ts";
import type { TaskProgress } from "../task.ts";
import type { OpChannel } from "./op-protocol.ts";
import { hasEnded, pushRunEvents, type RunStore } from "./push-run-events.ts";

/** Maximum runs that the clients of one tenant can follow at the same time; equals the limit of event streams. */
export const MAX_FOLLOWED_PER_TENANT = 2000;
export type RunFollower = ReturnType<typeof createRunFollower>;

/** Options of the follower. */
export interface RunFollowerOptions {
  store: RunStore & Pick<EventStore, "lastEventNumber" | "catchUp">;
  eventLog: Pick<EventLog, "follow">;
  logger: Pick<AdapterLogger, "error">;
}

/** Creates the follower, which pushes the events of runs to clients. */
export function createRunFollower({ store, eventLog, logger }: RunFollowerOptions) {
  const countByTenant = new Map<string, number>();
  const controllers = new WeakMap<OpChannel, Map<number, AbortController>>();

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
    /** Whether a run has ended and has no event after this position, so that a follower receives nothing. */
    hasEnded: (run: TaskProgress, after: EventId | null): Promise<boolean> => hasEnded(store, run, after),
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
        .then(() => pushRunEvents(run, after, { store, eventLog, channel, signal }))
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
