import type { DueCallback, Store } from "../store/store.ts";
import { createSilentOrigins } from "./silent-origins.ts";

/** Posts a callback and settles it. Calls `freePlace` once its POST is over; false when it is due as before. Must not reject. */
export type Deliver = (callback: DueCallback, freePlace: FreePlace) => Promise<boolean>;

/** Whether the origin gave an HTTP answer; null when the POST tells nothing about it. */
export type FreePlace = (answered: boolean | null) => void;

/** Decides which callback is posted when: origins are independent of each other, and none gets more than its share. */
export interface CallbackClaims {
  /** Begins, with everything that is overdue. */
  start(): void;
  /** Something of this origin is due. */
  notify(origin: string): void;
  /** Something will be due then. */
  wakeIn(delayMs: number): void;
  /** Claims nothing more. */
  stop(): void;
  /** Resolves when nothing is in hand, or the time is over. */
  idle(timeoutMs: number): Promise<void>;
}

const MAX_POSTS_PER_ORIGIN = 8;
/** What was silent may hang again until its deadline: until it answers, only one place is lost to it. */
const MAX_POSTS_PER_SILENT_ORIGIN = 1;
/**
 * Callbacks in hand over all origins: bounds the sockets, and the bodies in memory. Much higher than an origin's share, because
 * whoever comes when all is taken by origins that hang has to wait for their deadlines.
 */
const MAX_CLAIMED = 1024;
/** The store is asked at least this often what is due, so that a system clock that was set heals. */
const MAX_SLEEP_MS = 60_000;
/** How long the store is left alone after it failed. */
const FAULT_PAUSE_MS = 1000;

/** What is in hand for one origin. */
interface OriginLoad {
  posts: number;
  /** Rows being posted, or posted and not yet durably settled. */
  claimed: Set<number>;
  /** The store may have more that is due. */
  more: boolean;
}

/** Makes the claims of the one worker. Nobody else settles a row, so what is in hand is remembered here and needs no lease. */
export function createCallbackClaims({
  store,
  deliver,
  onFault,
}: {
  store: Pick<Store, "listDueOrigins" | "listDueCallbacks" | "nextCallbackInMs">;
  deliver: Deliver;
  onFault: (error: unknown) => void;
}): CallbackClaims {
  const loads = new Map<string, OriginLoad>();
  const silent = createSilentOrigins();
  /** Origins to ask the store for, in the order of their turn. */
  const turns = new Set<string>();
  const deliveries = new Set<Promise<void>>();
  let open = false;
  let claimed = 0;
  let claiming = false;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  async function lookForDue(): Promise<void> {
    silent.forgetOld();
    try {
      for (const origin of await store.listDueOrigins()) turns.add(origin);
      wakeIn((await store.nextCallbackInMs()) ?? MAX_SLEEP_MS);
    } catch (error) {
      rest(error);
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
      void lookForDue();
    }, sleepMs);
  }

  function rest(error: unknown): void {
    onFault(error);
    wakeIn(FAULT_PAUSE_MS);
  }

  /** Claims in an event-loop turn of its own, so that all that one commit brought is claimed together. */
  function claimSoon(): void {
    if (claiming || !open || turns.size === 0 || claimed >= MAX_CLAIMED) return;
    claiming = true;
    setImmediate(async () => {
      await claimInTurn().catch(rest);
      claiming = false;
      claimSoon();
    });
  }

  /** One origin after the other; those that meet the ceiling keep their turn. */
  async function claimInTurn(): Promise<void> {
    for (const origin of turns) {
      if (!open || claimed >= MAX_CLAIMED) return;
      turns.delete(origin);
      await claim(origin);
    }
  }

  async function claim(origin: string): Promise<void> {
    const load = loads.get(origin) ?? { posts: 0, claimed: new Set(), more: false };
    const places = silent.has(origin) ? MAX_POSTS_PER_SILENT_ORIGIN : MAX_POSTS_PER_ORIGIN;
    const room = Math.max(0, Math.min(places - load.posts, MAX_CLAIMED - claimed));
    const due = room > 0 ? await store.listDueCallbacks(origin, room, load.claimed) : [];
    if (!open) return;
    load.more = due.length === room;
    if (due.length > 0) loads.set(origin, load);
    for (const callback of due) {
      const delivery = carryOut(callback, load).finally(() => deliveries.delete(delivery));
      deliveries.add(delivery);
    }
  }

  async function carryOut(callback: DueCallback, load: OriginLoad): Promise<void> {
    const { origin } = callback;
    const { seq } = callback.task;
    load.posts += 1;
    load.claimed.add(seq);
    claimed += 1;
    const settled = await deliver(callback, (answered) => {
      if (answered !== null) silent.note(origin, answered);
      load.posts -= 1;
      if (load.more) turns.add(origin);
      claimSoon();
    });
    load.claimed.delete(seq);
    claimed -= 1;
    if (load.claimed.size === 0) loads.delete(origin);
    if (!settled) turns.add(origin);
    claimSoon();
  }

  return {
    start() {
      open = true;
      void lookForDue();
    },
    notify(origin) {
      turns.add(origin);
      claimSoon();
    },
    wakeIn,
    stop() {
      open = false;
      clearTimeout(timer);
    },
    async idle(timeoutMs) {
      let grace: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        grace = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([Promise.allSettled(deliveries), over]);
      clearTimeout(grace);
    },
  };
}
