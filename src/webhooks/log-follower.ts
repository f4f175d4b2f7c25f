import { createRepeatedPass } from "../events/repeated-pass.ts";
import type { NewDelivery, WebhookStore } from "../store/posts/interface.ts";
import { type CatchUpOptions, createCatchUp } from "./catch-up.ts";
import type { Subscription } from "./subscription.ts";

/** A node looks for events at this interval, because the node that stored them may have been killed before it could do so. */
const POLL_MS = 5_000;
/** Minimum time between the beginnings of two passes, so that events that follow each other share one. */
const LEAST_PASS_MS = 25;
/** The commits of other nodes are reported at any rate, and most of them contain no event for a webhook. */
const HINT_PASS_MS = 200;
const FAULT_PAUSE_MS = 1_000;

/** Options of a follower. */
export interface LogFollowerOptions extends Omit<CatchUpOptions, "isWanted" | "onThrough"> {
  store: WebhookStore;
  subscriptions(): readonly Subscription[];
  onFault(error: unknown): void;
}

/**
 * Creates the follower of the event log, which stores a delivery for each matching event. The position of a webhook moves in the same
 * transaction, so that a crash neither loses nor repeats one, and of several nodes, one stores it.
 */
export function createLogFollower({ onFault, ...options }: LogFollowerOptions) {
  const { store, subscriptions, onDeliveries } = options;
  /** Deliveries of events that the log does not contain. They are stored with the next pass. */
  let extra: { subscription: Subscription; delivery: NewDelivery }[] = [];
  /** Webhooks that may have new events. */
  let woken = new Set<Subscription>();
  /** When the last pass over all webhooks began, by the monotonic clock. */
  let allAt = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  const positions = createPositions(options);
  // After a change of the file, the next pass continues with the new filter.
  const isWanted = (subscription: Subscription): boolean => isOpen && subscriptions().includes(subscription);
  const catchUp = createCatchUp({ ...options, isWanted, onThrough: positions.note });

  const passes = createRepeatedPass({ pass, pollMs: POLL_MS, leastMs: LEAST_PASS_MS, faultPauseMs: FAULT_PAUSE_MS, onFault: failPass });

  async function pass(): Promise<void> {
    await storeExtra();
    await positions.keep();
    for (const subscription of takeDue()) if (!(await catchUp(subscription))) keepSoon();
  }

  function failPass(error: unknown): void {
    if (isOpen) onFault(error);
    wakeAll();
  }

  /** Takes the webhooks that may have new events; at regular intervals all of them. */
  function takeDue(): readonly Subscription[] {
    const isAll = performance.now() - allAt >= POLL_MS;
    if (isAll) allAt = performance.now();
    const due = subscriptions().filter((subscription) => isAll || woken.has(subscription));
    woken = new Set();
    return due;
  }

  const wakeAll = (): void => {
    allAt = Number.NEGATIVE_INFINITY;
  };

  /** Another node, which has another version of the file, has removed a position. The next pass adds it again. */
  function keepSoon(): void {
    positions.check();
    passes.wakeIn(0);
    wakeAll();
  }

  async function storeExtra(): Promise<void> {
    while (extra.length > 0) {
      const batch = extra;
      await store.addWebhookDeliveries({ deliveries: batch.map(({ delivery }) => delivery) });
      extra = extra.slice(batch.length);
      for (const { subscription } of batch) onDeliveries(subscription);
    }
  }

  return {
    /** Starts to follow the log. New webhooks get the events that are stored after this has resolved. */
    async start(): Promise<void> {
      await positions.keep();
      isOpen = true;
      passes.start();
    },
    /** Call it when this node has stored an event that these webhooks may get. */
    wake(these: readonly Subscription[]): void {
      for (const subscription of these) woken.add(subscription);
      if (these.length > 0) passes.wakeIn(0);
    },
    /** Call it when another node has stored events. */
    wakeSoon(): void {
      wakeAll();
      passes.wakeIn(HINT_PASS_MS);
    },
    /** Call it when the webhooks have changed. */
    onChanged(): void {
      positions.check();
      wakeAll();
      passes.wakeIn(0);
    },
    /** Stores deliveries of an event that the log does not contain. Repeats it until it succeeds. */
    add(subscription: Subscription, delivery: NewDelivery): void {
      extra.push({ subscription, delivery });
      passes.wakeIn(0);
    },
    async close(): Promise<void> {
      isOpen = false;
      await passes.close();
    },
  };
}

/** Creates the functions that add and remove the positions of webhooks. */
function createPositions({ store, subscriptions }: Pick<LogFollowerOptions, "store" | "subscriptions">) {
  /**
   * The webhooks of which this node has stored the positions, with the last one that it knows. If a node with another version of the file
   * removes a position, the webhook continues from there.
   */
  let known = new Map<string, number>();
  /** Whether the positions of the present webhooks exist. */
  let isKept = false;
  return {
    /**
     * Removes the positions of webhooks that have left the file, as far as this node had them: another node may already have a newer
     * version of the file, with webhooks that this one does not know.
     */
    async keep(): Promise<void> {
      if (isKept) return;
      const present = subscriptions();
      const names = present.map(({ name }) => name);
      await store.removeWebhooks([...known.keys()].filter((name) => !names.includes(name)));
      known = await store.addWebhooks(names, known);
      isKept = present === subscriptions();
    },
    /** Call it when a webhook has the deliveries of all events up to this number. */
    note({ name }: Subscription, cursor: number): void {
      known.set(name, cursor);
    },
    /** Call it when a position may be missing. */
    check(): void {
      isKept = false;
    },
  };
}
