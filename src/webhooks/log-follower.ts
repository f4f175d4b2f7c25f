import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventType } from "#contract";
import type { WebhookStore } from "../store/store.ts";
import type { NewDelivery, WebhookEvent, WebhookPage } from "../store/webhook-records.ts";
import { matchesFilter, type Subscription } from "./subscription.ts";

/** A node looks for events at this interval, because the node that stored them may have been killed before it could do so. */
const POLL_MS = 5_000;
/** Minimum time between the beginnings of two passes, so that events that follow each other share one. */
const LEAST_PASS_MS = 25;
/** The commits of other nodes are reported at any rate, and most of them contain no event for a webhook. */
const HINT_PASS_MS = 200;
const FAULT_PAUSE_MS = 1_000;
/** A position without matching events is stored this often, so that it does not fall behind retention. */
const STORE_POSITION_MS = 3_600_000;

/** Options of a follower. */
export interface LogFollowerOptions {
  store: WebhookStore;
  subscriptions(): readonly Subscription[];
  toDelivery(subscription: Subscription, event: WebhookEvent): NewDelivery;
  /** Called when a webhook has new deliveries, which are durable. */
  onDeliveries(subscription: Subscription): void;
  /** Called when retention has deleted events before the webhook got them. */
  onSkipped(subscription: Subscription): void;
  onFault(error: unknown): void;
}

/**
 * Creates the follower of the event log, which stores a delivery for each matching event. The position of a webhook moves in the same
 * transaction, so that a crash neither loses nor repeats one, and of several nodes, one stores it.
 */
export function createLogFollower({ store, subscriptions, toDelivery, onDeliveries, onSkipped, onFault }: LogFollowerOptions) {
  /** Deliveries of events that the log does not contain. They are stored with the next pass. */
  let extra: { subscription: Subscription; delivery: NewDelivery }[] = [];
  const storedAt = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let startedAt = Number.NEGATIVE_INFINITY;
  let passing: Promise<void> | null = null;
  let isWoken = false;
  /** Webhooks that may have new events. */
  let woken = new Set<Subscription>();
  /** When the last pass over all webhooks began, by the monotonic clock. */
  let allAt = Number.NEGATIVE_INFINITY;
  /** Webhooks of which this node has stored the positions. */
  let known: readonly string[] = [];
  /** Whether the positions of the present webhooks exist. */
  let isKept = false;
  let isOpen = false;

  /** Starts a pass after this time, or earlier if one is due before. */
  function passIn(ms: number): void {
    const now = performance.now();
    const at = Math.max(now + ms, startedAt + LEAST_PASS_MS);
    if (!isOpen || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Number.POSITIVE_INFINITY;
      if (passing === null) passing = pass();
      else isWoken = true;
    }, at - now);
  }

  async function pass(): Promise<void> {
    startedAt = performance.now();
    isWoken = false;
    let pauseMs = POLL_MS;
    try {
      await storeExtra();
      if (!isKept) await keep();
      for (const subscription of takeDue()) await catchUp(subscription);
    } catch (error) {
      if (isOpen) onFault(error);
      pauseMs = FAULT_PAUSE_MS;
      wakeAll();
    }
    passing = null;
    passIn(isWoken ? 0 : pauseMs);
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

  async function storeExtra(): Promise<void> {
    while (extra.length > 0) {
      const batch = extra;
      await store.addWebhookDeliveries({ deliveries: batch.map(({ delivery }) => delivery) });
      extra = extra.slice(batch.length);
      for (const { subscription } of batch) onDeliveries(subscription);
    }
  }

  /**
   * Removes the positions of webhooks that have left the file, as far as this node had them: another node may already have a newer version
   * of the file, with webhooks that this one does not know.
   */
  async function keep(): Promise<void> {
    const present = subscriptions();
    const names = present.map(({ name }) => name);
    await store.removeWebhooks(known.filter((name) => !names.includes(name)));
    await store.addWebhooks(names);
    known = names;
    isKept = present === subscriptions();
  }

  async function catchUp(subscription: Subscription): Promise<void> {
    const { name: webhook, tenant, types } = subscription;
    // After a change of the file, the next pass continues with the new filter.
    while (isOpen && subscriptions().includes(subscription)) {
      // With SQLite, each page is read in one piece.
      await nextTurn();
      const page = await store.readWebhookEvents({ tenant, webhook }, types as readonly string[] as readonly EventType[]);
      if (page === null) {
        // Another node, which has another version of the file, has removed the position. The next pass adds it again.
        isKept = false;
        isWoken = true;
        wakeAll();
        return;
      }
      const deliveries = page.events.filter((event) => matches(subscription, event)).map((event) => toDelivery(subscription, event));
      if (deliveries.length > 0 || mustStore(webhook, page)) {
        const isMoved = await store.addWebhookDeliveries({ deliveries, move: { webhook, from: page.cursor, to: page.through } });
        // Another node has stored these deliveries.
        if (!isMoved) continue;
        storedAt.set(webhook, performance.now());
        if (page.isBehind) onSkipped(subscription);
        if (deliveries.length > 0) onDeliveries(subscription);
      }
      if (!page.hasMore) return;
    }
  }

  /** Events that the filter excludes move the position too, so that no pass reads them again. */
  function mustStore(webhook: string, { cursor, through, hasMore, isBehind, events }: WebhookPage): boolean {
    if (through === cursor) return false;
    return (
      events.length > 0 ||
      hasMore ||
      isBehind ||
      performance.now() - (storedAt.get(webhook) ?? Number.NEGATIVE_INFINITY) >= STORE_POSITION_MS
    );
  }

  return {
    /** Starts to follow the log. */
    start(): void {
      isOpen = true;
      passIn(0);
    },
    /** Call it when this node has stored an event that these webhooks may get. */
    wake(these: readonly Subscription[]): void {
      for (const subscription of these) woken.add(subscription);
      if (these.length > 0) passIn(0);
    },
    /** Call it when another node has stored events. */
    wakeSoon(): void {
      wakeAll();
      passIn(HINT_PASS_MS);
    },
    /** Call it when the webhooks have changed. */
    onChanged(): void {
      isKept = false;
      wakeAll();
      passIn(0);
    },
    /** Stores deliveries of an event that the log does not contain. Repeats it until it succeeds. */
    add(subscription: Subscription, delivery: NewDelivery): void {
      extra.push({ subscription, delivery });
      passIn(0);
    },
    async close(): Promise<void> {
      isOpen = false;
      clearTimeout(timer);
      await passing;
    },
  };
}

const matches = ({ filter }: Subscription, { task: { agentId, provider }, labels }: WebhookEvent): boolean =>
  matchesFilter(filter, { agentId, provider, labels });
