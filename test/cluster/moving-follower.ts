import type { EventEnvelope } from "#contract";
import { createFollower, type Follower } from "../crash/follower.ts";
import type { Tenant } from "../crash/orchestrator.ts";
import type { Random } from "../crash/random.ts";
import { until } from "../support/until.ts";
import { pause } from "./pause.ts";

/** Follows all events of one tenant, and moves from node to node. */
export interface MovingFollower {
  readonly tenant: string;
  readonly events: Follower["events"];
  readonly resumptions: number;
  readonly gaps: number;
  /** Connects. It stays on the first node until it has received an event. */
  start(): Promise<void>;
  /** Waits until it has received this number of events, and stops. */
  finish(events: number): Promise<void>;
  close(): void;
}

const MAX_STAY_MS = 800;
const RETRY_MS = 20;
const FINISH_LIMIT_MS = 20_000;
const SERVICE_UNAVAILABLE = 503;

/** Creates a follower that does not follow yet. */
export function createMovingFollower({
  tenant,
  random,
  pickAddress,
  mayLoseIds,
  onEvent,
  onViolation,
}: {
  tenant: Tenant;
  random: Random;
  pickAddress(): string | null;
  mayLoseIds: boolean;
  onEvent(event: EventEnvelope): void;
  onViolation(violation: string): void;
}): MovingFollower {
  const first = Promise.withResolvers<void>();
  const closed = new AbortController();
  const follower = createFollower({
    tenant,
    mayRefuse: (status) => status === SERVICE_UNAVAILABLE,
    mayLoseIds,
    onEvent(event) {
      first.resolve();
      onEvent(event);
    },
    onViolation,
  });

  /** Stays on one node for a while. */
  async function stay(onConnected: () => void): Promise<void> {
    const address = pickAddress();
    if (address === null) return void (await pause(RETRY_MS));
    const leaving = new AbortController();
    const { connected, ended } = follower.follow(address, AbortSignal.any([leaving.signal, closed.signal]));
    void connected.then(onConnected);
    void first.promise.then(() => setTimeout(() => leaving.abort(), random.integer(0, MAX_STAY_MS)));
    await ended;
    await pause(RETRY_MS);
  }

  async function move(onConnected: () => void): Promise<void> {
    while (!closed.signal.aborted) await stay(onConnected);
  }

  return {
    tenant: tenant.tenant,
    events: follower.events,
    get resumptions() {
      return follower.resumptions;
    },
    get gaps() {
      return follower.gaps;
    },
    async start() {
      const connected = Promise.withResolvers<void>();
      void move(connected.resolve);
      await connected.promise;
    },
    async finish(events) {
      await until(() => follower.events.length >= events, FINISH_LIMIT_MS);
      closed.abort();
    },
    close: () => closed.abort(),
  };
}
