import { withTimeout } from "@hak2i/async-kit";
import type { CallbackQueue, DueCallback, Store } from "../store/store.ts";
import { createSilentOrigins } from "./silent-origins.ts";

/** Posts a callback and settles it. */
export type Deliver = (callback: DueCallback) => Delivery;

/** One POST under way; neither promise may reject. */
export interface Delivery {
  /** Resolves once the row is settled durably; false when it is due as before. */
  settled: Promise<boolean>;
  /** Resolves once the answer has been read or cut off, with whether the origin gave an HTTP answer; null when that is unknown. */
  ended: Promise<boolean | null>;
}

/** Decides which callback is posted when: tenants and origins are independent of each other, and none gets more than its share. */
export interface CallbackClaims {
  /** Begins, with everything that is overdue. */
  start(): void;
  /** A callback of this queue is due. */
  notify(queue: CallbackQueue): void;
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
/** Callbacks in progress of all tenants: bounds the sockets, and the bodies in memory. */
const MAX_CLAIMED = 1024;
/**
 * A tenant may hold this many times the number of free places: 768 of the 1,024 when it is alone. With this rule there is always a free
 * place for a tenant that has none.
 */
const TENANT_SHARE = 3;
/** Bodies in hand of one tenant, in UTF-16 units, give or take those of one claim. A tenant without any may always post one. */
const MAX_BODIES_PER_TENANT = 32 * 1024 ** 2;
/** Bodies in hand over all tenants. */
const MAX_BODIES = 128 * 1024 ** 2;
/** The store is asked at least this often what is due, so that a system clock that was set heals. */
const MAX_SLEEP_MS = 60_000;
/** How long the store is left alone after it failed. */
const FAULT_PAUSE_MS = 1000;

/** Callbacks in progress for one origin, of all tenants. */
interface OriginLoad {
  posts: number;
  /** Rows that are being posted, or posted and not yet settled durably. */
  unsettled: Set<number>;
  /** Tenants that may have more due callbacks in the store; the tenant that was served last is last. */
  more: Set<string>;
}

/** Makes the claims of the one worker. Nobody else settles a row, so what is in hand is remembered here and needs no lease. */
export function createCallbackClaims({
  store,
  deliver,
  onFault,
}: {
  store: Pick<Store, "listDueCallbackQueues" | "listDueCallbacks" | "nextCallbackInMs">;
  deliver: Deliver;
  onFault: (error: unknown) => void;
}): CallbackClaims {
  const loads = new Map<string, OriginLoad>();
  const silent = createSilentOrigins();
  /** Origins to ask the store for, by tenant; tenants and origins in the order of their turn. */
  const turns = new Map<string, Set<string>>();
  /** Callbacks in progress by tenant. */
  const claimedBy = new Map<string, number>();
  /** The length of their bodies. */
  const bodiesOf = new Map<string, number>();
  let bodies = 0;
  const deliveries = new Set<Promise<void>>();
  let open = false;
  let claimed = 0;
  let claiming = false;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  async function lookForDue(): Promise<void> {
    silent.forgetOld();
    try {
      // In this order: a callback that becomes due between the two reads is found by both. In the other order, neither would find it.
      const nextInMs = await store.nextCallbackInMs();
      for (const queue of await store.listDueCallbackQueues()) addTurn(queue);
      wakeIn(nextInMs ?? MAX_SLEEP_MS);
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

  function addTurn({ tenant, origin }: CallbackQueue): void {
    const origins = turns.get(tenant);
    if (origins === undefined) turns.set(tenant, new Set([origin]));
    else origins.add(origin);
  }

  /** Number of further callbacks that the tenant may start now. */
  function roomOf(tenant: string): number {
    const ownBodies = bodiesOf.get(tenant) ?? 0;
    if (ownBodies > 0 && (ownBodies >= MAX_BODIES_PER_TENANT || bodies >= MAX_BODIES)) return 0;
    const free = MAX_CLAIMED - claimed;
    const room = Math.ceil((TENANT_SHARE * free - (claimedBy.get(tenant) ?? 0)) / (TENANT_SHARE + 1));
    return Math.max(0, Math.min(room, free));
  }

  function canClaim(): boolean {
    if (open) for (const tenant of turns.keys()) if (roomOf(tenant) > 0) return true;
    return false;
  }

  /** Claims in an event-loop turn of its own, so that all that one commit brought is claimed together. */
  function claimSoon(): void {
    if (claiming || !canClaim()) return;
    claiming = true;
    setImmediate(() => void claimAll());
  }

  async function claimAll(): Promise<void> {
    await claimInTurn().catch(rest);
    claiming = false;
    claimSoon();
  }

  /** One origin of each tenant after the other; tenants without room keep their turns. */
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
    const load = loads.get(origin) ?? { posts: 0, unsettled: new Set(), more: new Set() };
    const places = silent.has(origin) ? MAX_POSTS_PER_SILENT_ORIGIN : MAX_POSTS_PER_ORIGIN;
    const roomOfOrigin = Math.max(0, places - load.posts);
    const room = Math.min(roomOfOrigin, roomOf(tenant));
    const due = room > 0 ? await store.listDueCallbacks(queue, room, load.unsettled) : [];
    if (!open) return;
    if (room > 0) load.more.delete(tenant);
    if (due.length === room && room === roomOfOrigin) load.more.add(tenant);
    else if (due.length === room) addTurn(queue);
    if (due.length > 0) loads.set(origin, load);
    for (const callback of due) {
      const delivery = carryOut(callback, load).finally(() => deliveries.delete(delivery));
      deliveries.add(delivery);
    }
  }

  async function carryOut(callback: DueCallback, load: OriginLoad): Promise<void> {
    const { origin } = callback;
    const { seq, tenant } = callback.task;
    const { heldLength } = callback;
    load.posts += 1;
    load.unsettled.add(seq);
    claimed += 1;
    addTo(claimedBy, tenant, 1);
    bodies += heldLength;
    addTo(bodiesOf, tenant, heldLength);
    const { settled, ended } = deliver(callback);
    // Independent of each other: a retry may be due long before the answer to the first attempt has ended.
    await Promise.all([
      ended.then((answered) => {
        if (answered !== null) silent.note(origin, answered);
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
    claimed -= 1;
    addTo(claimedBy, tenant, -1);
    bodies -= heldLength;
    addTo(bodiesOf, tenant, -heldLength);
    if (load.posts === 0 && load.unsettled.size === 0 && loads.get(origin) === load) loads.delete(origin);
    claimSoon();
  }

  return {
    start() {
      open = true;
      void lookForDue();
    },
    notify(queue) {
      addTurn(queue);
      claimSoon();
    },
    wakeIn,
    stop() {
      open = false;
      clearTimeout(timer);
    },
    async idle(timeoutMs) {
      await withTimeout(Promise.allSettled(deliveries), timeoutMs, () => {});
    },
  };
}

/** Counts up or down; what is zero is forgotten. */
function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
