import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventType } from "#contract";
import type { NewDelivery, WebhookEvent, WebhookPage, WebhookStore } from "../store/posts/interface.ts";
import { matchesFilter, type Subscription } from "./subscription.ts";

/** A position without matching events is stored this often, so that it does not fall behind retention. */
const STORE_POSITION_MS = 3_600_000;
/** A position is also stored after this many events without a match, because every pass reads them again. */
const MAX_READ_AGAIN = 100;

/** Options of `createCatchUp`. */
export interface CatchUpOptions {
  store: Pick<WebhookStore, "readWebhookEvents" | "addWebhookDeliveries">;
  /** Whether the webhook still gets events. */
  isWanted(subscription: Subscription): boolean;
  toDelivery(subscription: Subscription, event: WebhookEvent): NewDelivery;
  /** Called when all deliveries of the events up to this number are stored. */
  onThrough(subscription: Subscription, cursor: number): void;
  /** Called when a webhook has new deliveries, which are durable. */
  onDeliveries(subscription: Subscription): void;
  /** Called when retention has deleted events before the webhook got them. */
  onSkipped(subscription: Subscription): void;
}

/**
 * Creates the function that stores a delivery for each event after the position of a webhook that its filter matches. It returns false if
 * the webhook has no position.
 */
export function createCatchUp({ store, isWanted, toDelivery, onThrough, onDeliveries, onSkipped }: CatchUpOptions) {
  const storedAt = new Map<string, number>();

  /** Events that the filter excludes move the position too, so that no pass reads them again. */
  function mustStore(webhook: string, { cursor, through, isBehind, events }: WebhookPage): boolean {
    if (through === cursor) return false;
    return (
      events.length > 0 ||
      through - cursor >= MAX_READ_AGAIN ||
      isBehind ||
      performance.now() - (storedAt.get(webhook) ?? Number.NEGATIVE_INFINITY) >= STORE_POSITION_MS
    );
  }

  return async (subscription: Subscription): Promise<boolean> => {
    const { name: webhook, tenant, types } = subscription;
    while (isWanted(subscription)) {
      // With SQLite, each page is read in one piece.
      await nextTurn();
      const page = await store.readWebhookEvents({ tenant, webhook }, types as readonly string[] as readonly EventType[]);
      if (page === null) return false;
      const deliveries = page.events.filter((event) => matches(subscription, event)).map((event) => toDelivery(subscription, event));
      if (deliveries.length > 0 || mustStore(webhook, page)) {
        const isMoved = await store.addWebhookDeliveries({ deliveries, move: { webhook, from: page.cursor, to: page.through } });
        // Another node has stored these deliveries.
        if (!isMoved) continue;
        storedAt.set(webhook, performance.now());
        if (page.isBehind) onSkipped(subscription);
        if (deliveries.length > 0) onDeliveries(subscription);
      }
      onThrough(subscription, page.through);
      if (!page.hasMore) return true;
    }
    return true;
  };
}

const matches = ({ filter }: Subscription, { task: { agentId, provider }, labels }: WebhookEvent): boolean =>
  matchesFilter(filter, { agentId, provider, labels });
