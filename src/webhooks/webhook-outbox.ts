import type { Outbox } from "../posts/outbox.ts";
import type { Envelope } from "../posts/poster.ts";
import type { ClaimedDelivery, DuePost, WebhookDelivery, WebhookStore } from "../store/posts/interface.ts";
import type { Subscription } from "./subscription.ts";

/** A delivery that is due. Its row has the number of the delivery. */
export interface DueDelivery extends DuePost {
  type: string;
  envelope: Envelope;
}

/**
 * Creates the outbox of the deliveries to the present webhooks. Each attempt uses the URL, the
 * headers and the secrets that the file has then. Deliveries to a webhook that is not in the file wait until it is, or until they expire.
 */
export function createWebhookOutbox(store: WebhookStore, subscriptions: () => readonly Subscription[]) {
  /** Deliveries that were claimed and are not settled yet. */
  const claimed = new Map<number, ClaimedDelivery>();
  let claiming: Promise<unknown> = Promise.resolve();
  const find = (tenant: string, webhook: string): Subscription | undefined =>
    subscriptions().find((one) => one.name === webhook && one.tenant === tenant);

  const listKeys = () => subscriptions().map(({ tenant, name }) => ({ tenant, webhook: name }));

  async function claim(subscription: Subscription, limit: number, inProgress: ReadonlySet<number>): Promise<DueDelivery[]> {
    const { tenant, name } = subscription;
    const due = await store.claimDueDeliveries({ tenant, webhook: name }, limit, inProgress);
    for (const { seq, attempts } of due) claimed.set(seq, { seq, attempts });
    return due.map((delivery) => toDueDelivery(delivery, subscription));
  }

  const outbox: Outbox<DueDelivery> = {
    // The worker is notified of the queue instead.
    onPost() {},
    async listDueQueues() {
      const due = await store.listDueWebhooks(listKeys());
      return due.map(({ tenant, webhook }) => ({ tenant, receiver: webhook }));
    },
    async listDue({ tenant, receiver }, limit, inProgress = new Set()) {
      const subscription = find(tenant, receiver);
      if (subscription === undefined) return [];
      const due = claim(subscription, limit, inProgress);
      // The worker can be closed before it gets them.
      claiming = Promise.allSettled([claiming, due]);
      return await due;
    },
    nextInMs: () => store.nextWebhookInMs(listKeys()),
    async settleIfPending({ row, attempts }, settlement) {
      const settled = await store.settleDeliveryIfPending({ seq: row, attempts }, settlement);
      claimed.delete(row);
      return settled;
    },
  };
  return {
    ...outbox,
    /** Releases what was claimed and not settled, for which other nodes would wait. Call it after the worker has closed. */
    async release(): Promise<void> {
      await claiming;
      await store.releaseDeliveries([...claimed.values()]);
    },
  };
}

const toDueDelivery = (
  { seq, id, tenant, type, body, attempts, roundAttempts, createdAt }: WebhookDelivery,
  { name, url, headers, signingKeys }: Subscription,
): DueDelivery => ({
  row: seq,
  tenant,
  receiver: name,
  ...{ type, url, body, attempts, roundAttempts },
  heldLength: body.length,
  happenedAt: createdAt,
  envelope: { id, headers, signingKeys },
});
