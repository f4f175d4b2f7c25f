import type { CallbackOutbox } from "../callbacks/callback-outbox.ts";
import type { Envelope } from "../callbacks/post-callback.ts";
import type { DuePost } from "../store/records.ts";
import type { WebhookStore } from "../store/store.ts";
import type { WebhookDelivery } from "../store/webhook-records.ts";
import type { Subscription } from "./subscription.ts";

/** A delivery that is due. Its row has the number of the delivery, and its origin is the name of the webhook. */
export interface DueDelivery extends DuePost {
  type: string;
  envelope: Envelope;
}

/**
 * Presents the deliveries of the present webhooks as an outbox, so that the worker of callbacks posts them. Each attempt uses the URL, the
 * headers and the secrets that the file has then. Deliveries to a webhook that is not in the file wait until it is, or until they expire.
 */
export function createWebhookOutbox(store: WebhookStore, subscriptions: () => readonly Subscription[]): CallbackOutbox<DueDelivery> {
  const find = (tenant: string, webhook: string): Subscription | undefined =>
    subscriptions().find((one) => one.name === webhook && one.tenant === tenant);

  const listKeys = () => subscriptions().map(({ tenant, name }) => ({ tenant, webhook: name }));

  return {
    // The worker is notified of the queue instead.
    onCallback() {},
    async listDueCallbackQueues() {
      const due = await store.listDueWebhooks(listKeys());
      return due.map(({ tenant, webhook }) => ({ tenant, origin: webhook }));
    },
    async listDueCallbacks({ tenant, origin }, limit, inProgress = new Set()) {
      const subscription = find(tenant, origin);
      if (subscription === undefined) return [];
      const due = await store.claimDueDeliveries({ tenant, webhook: origin }, limit, inProgress);
      return due.map((delivery) => toDueDelivery(delivery, subscription));
    },
    nextCallbackInMs: () => store.nextWebhookInMs(listKeys()),
    settleCallbackIfPending: ({ row, attempts }, settlement) => store.settleDeliveryIfPending({ seq: row, attempts }, settlement),
  };
}

const toDueDelivery = (
  { seq, id, tenant, type, body, attempts, roundAttempts, createdAt }: WebhookDelivery,
  { name, url, headers, signingKeys }: Subscription,
): DueDelivery => ({
  row: seq,
  tenant,
  origin: name,
  ...{ type, url, body, attempts, roundAttempts },
  heldLength: body.length,
  finishedAt: createdAt,
  envelope: { id, headers, signingKeys },
});
