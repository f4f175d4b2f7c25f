import { withTimeout } from "@hak2i/async-kit";
import type { CallbackQueue, DueCallback, Store } from "../store/store.ts";
import { createCallbackLimits } from "./callback-limits.ts";
import { createUnresponsiveOrigins } from "./unresponsive-origins.ts";

/** Posts a callback and settles it. */
export type Deliver = (callback: DueCallback) => Delivery;

/** A POST in progress. Neither promise may reject. */
export interface Delivery {
  /** Resolves when the row is settled durably; false if it is still due. */
  settled: Promise<boolean>;
  /** Resolves when the response has been read or aborted: true if the origin sent an HTTP response, null if that is unknown. */
  ended: Promise<boolean | null>;
}

const MAX_POSTS_PER_ORIGIN = 8;
/** An origin that sent no response may hang again until the deadline, so it occupies at most one slot until it responds. */
const MAX_POSTS_PER_UNRESPONSIVE_ORIGIN = 1;
/** Maximum time between two checks for due callbacks. Limits the delay after the system clock is set back. */
const MAX_SLEEP_MS = 60_000;
/** Pause after a failed read of the store. */
const FAULT_PAUSE_MS = 1000;

/** Callbacks in progress for one origin, of all tenants. */
interface OriginLoad {
  posts: number;
  /** Task numbers of callbacks that are being posted, or are not yet settled durably. */
  unsettled: Set<number>;
  /** Tenants that may have more due callbacks in the store, the least recently served first. */
  more: Set<string>;
}

/**
 * Decides when each callback is posted: tenants and origins do not delay each other, and none gets more than its share. Only one worker
 * settles callbacks, so those in progress are tracked in memory and need no lease.
 */
export function createCallbackClaims({
  store,
  deliver,
  onFault,
}: {
  store: Pick<Store, "listDueCallbackQueues" | "listDueCallbacks" | "nextCallbackInMs">;
  deliver: Deliver;
  onFault: (error: unknown) => void;
}) {
  const loads = new Map<string, OriginLoad>();
  const unresponsive = createUnresponsiveOrigins();
  /** Origins that may have due callbacks, by tenant. Tenants and origins are in the order of their turn. */
  const turns = new Map<string, Set<string>>();
  const { roomOf, occupy, release } = createCallbackLimits();
  const deliveries = new Set<Promise<void>>();
  let open = false;
  let claiming = false;
  /** Whether `turns` contains all queues that had due callbacks at the last read of the store. */
  let isBacklogKnown = false;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  async function findDueQueues(): Promise<void> {
    unresponsive.forgetOld();
    try {
      // In this order, both reads find a callback that becomes due between them. In the other order, neither would.
      const nextInMs = await store.nextCallbackInMs();
      for (const queue of await store.listDueCallbackQueues()) addTurn(queue);
      isBacklogKnown = true;
      wakeIn(nextInMs ?? MAX_SLEEP_MS);
    } catch (error) {
      pauseAfterFault(error);
    }
    claimSoon();
  }

  function wakeIn(delayMs: number): void {
    const sleepMs = Math.min(delayMs, MAX_SLEEP_MS);
    const at = performance.now() + sleepMs;
    if (!open || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Number.POSITIVE_INFINITY;
      void findDueQueues();
    }, sleepMs);
  }

  function pauseAfterFault(error: unknown): void {
    onFault(error);
    isBacklogKnown = false;
    wakeIn(FAULT_PAUSE_MS);
  }

  function addTurn({ tenant, origin }: CallbackQueue): void {
    const origins = turns.get(tenant);
    if (origins === undefined) turns.set(tenant, new Set([origin]));
    else origins.add(origin);
  }

  function canClaim(): boolean {
    if (open) for (const tenant of turns.keys()) if (roomOf(tenant) > 0) return true;
    return false;
  }

  /** Claims in a later event-loop turn, so that all callbacks of one commit are claimed together. */
  function claimSoon(): void {
    if (claiming || !canClaim()) return;
    claiming = true;
    setImmediate(() => void claimAll());
  }

  async function claimAll(): Promise<void> {
    await claimInTurn().catch(pauseAfterFault);
    claiming = false;
    claimSoon();
  }

  /** Claims for one origin of each tenant in turn. Tenants without room keep their turns. */
  async function claimInTurn(): Promise<void> {
    for (const [tenant, origins] of turns) {
      if (!open) return;
      if (roomOf(tenant) === 0) continue;
      const origin = origins.values().next().value as string;
      origins.delete(origin);
      // Setting the tenant again moves it to the end, where this loop visits it once more.
      turns.delete(tenant);
      if (origins.size > 0) turns.set(tenant, origins);
      await claim({ tenant, origin });
    }
  }

  async function claim(queue: CallbackQueue): Promise<void> {
    const { tenant, origin } = queue;
    const load = loadOf(origin);
    const roomOfOrigin = roomOfLoad(origin, load);
    const room = Math.min(roomOfOrigin, roomOf(tenant));
    const due = room > 0 ? await store.listDueCallbacks(queue, room, load.unsettled) : [];
    if (!open) return;
    if (room > 0) load.more.delete(tenant);
    if (due.length === room && room === roomOfOrigin) load.more.add(tenant);
    else if (due.length === room) addTurn(queue);
    for (const callback of due) {
      start(callback, load);
      post(callback, load);
    }
  }

  const loadOf = (origin: string): OriginLoad => loads.get(origin) ?? { posts: 0, unsettled: new Set(), more: new Set() };

  function roomOfLoad(origin: string, { posts }: OriginLoad): number {
    const slots = unresponsive.has(origin) ? MAX_POSTS_PER_UNRESPONSIVE_ORIGIN : MAX_POSTS_PER_ORIGIN;
    return Math.max(0, slots - posts);
  }

  /**
   * Starts a callback that was just stored without reading it back, if no callback that could start now waits for its turn, and none to
   * this origin waits in the store. The POST starts in a later event-loop turn, after the responses to clients whose writes were committed.
   */
  function handOver(callback: DueCallback): void {
    const { origin } = callback;
    const { tenant } = callback.task;
    const load = loadOf(origin);
    // `claiming` is true while a tenant that has room waits for its turn.
    const isNext = isBacklogKnown && !claiming && load.more.size === 0;
    if (open && isNext && roomOfLoad(origin, load) > 0 && roomOf(tenant) > 0) {
      start(callback, load);
      setImmediate(post, callback, load);
    } else {
      addTurn({ tenant, origin });
      claimSoon();
    }
  }

  /** Counts a callback as in progress. Reads of the store omit it from now on. */
  function start(callback: DueCallback, load: OriginLoad): void {
    loads.set(callback.origin, load);
    load.posts += 1;
    load.unsettled.add(callback.task.seq);
    occupy(callback);
  }

  function post(callback: DueCallback, load: OriginLoad): void {
    const delivery = postStarted(callback, load).finally(() => deliveries.delete(delivery));
    deliveries.add(delivery);
  }

  async function postStarted(callback: DueCallback, load: OriginLoad): Promise<void> {
    const { origin } = callback;
    const { seq, tenant } = callback.task;
    const { settled, ended } = deliver(callback);
    // A retry may be due long before the response to the first attempt has ended.
    await Promise.all([
      ended.then((responded) => {
        if (responded !== null) unresponsive.record(origin, responded);
        load.posts -= 1;
        for (const waiting of load.more) addTurn({ tenant: waiting, origin });
        claimSoon();
      }),
      settled.then((isSettled) => {
        load.unsettled.delete(seq);
        if (!isSettled) addTurn({ tenant, origin });
        claimSoon();
      }),
    ]);
    release(callback);
    if (load.posts === 0 && load.unsettled.size === 0 && loads.get(origin) === load) loads.delete(origin);
    claimSoon();
  }

  return {
    /** Starts with the callbacks that are due. */
    start(): void {
      open = true;
      void findDueQueues();
    },
    handOver,
    /** A callback of this queue is due. */
    notify(queue: CallbackQueue): void {
      addTurn(queue);
      claimSoon();
    },
    /** A callback will be due after this delay. */
    wakeIn,
    /** Stops claiming. */
    stop(): void {
      open = false;
      clearTimeout(timer);
    },
    /** Resolves when no callback is in progress, or after the timeout. */
    async waitUntilIdle(timeoutMs: number): Promise<void> {
      await withTimeout(Promise.allSettled(deliveries), timeoutMs, () => {});
    },
  };
}
