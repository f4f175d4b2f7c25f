import { BridgeError } from "../errors.ts";
import { type Redelivery, redeliverPages } from "../posts/redeliver-pages.ts";
import type { PostQueue, WebhookDelivery, WebhookStore } from "../store/posts/interface.ts";

interface RedeliveryOptions {
  store: WebhookStore;
  /** Throws BridgeError: not_found. */
  checkExists(tenant: string, name: string): void;
  /** Called when deliveries to a webhook are due again. */
  onRedelivered(queue: PostQueue): void;
}

/** Creates the redelivery of dead deliveries. */
export function createRedelivery({ store, checkExists, onRedelivered }: RedeliveryOptions) {
  return {
    /** Gives a dead delivery a new round of attempts. Throws BridgeError: not_found, already_delivered, invalid_state. */
    async redeliver(tenant: string, name: string, id: string): Promise<WebhookDelivery> {
      checkExists(tenant, name);
      const key = { tenant, webhook: name };
      const redelivered = await store.redeliverWebhookIfDead(key, id);
      if (redelivered !== null) {
        onRedelivered({ tenant, receiver: name });
        return redelivered;
      }
      const known = await store.findWebhookDelivery(key, id);
      if (known === null) throw new BridgeError("not_found", "There is no such delivery.");
      if (known.state === "delivered")
        throw new BridgeError("already_delivered", "The webhook has been delivered. Only dead deliveries can be redelivered.");
      throw new BridgeError("invalid_state", "The delivery is pending. Only dead deliveries can be redelivered.");
    },
    /**
     * Gives the dead deliveries of a webhook a new round of attempts, the newest first. Examines a limited number of them, from `before`
     * on, so that repeated requests end even if the receiver still fails. Throws BridgeError: not_found.
     */
    async redeliverAll(tenant: string, name: string, before: number | null): Promise<Redelivery> {
      checkExists(tenant, name);
      const key = { tenant, webhook: name };
      const result = await redeliverPages({
        before,
        list: (page) => store.listWebhookDeliveries(key, "dead", page),
        keyOf: ({ seq }) => seq,
        redeliver: async ({ id }) => (await store.redeliverWebhookIfDead(key, id)) !== null,
      });
      if (result.redelivered > 0) onRedelivered({ tenant, receiver: name });
      return result;
    },
  };
}
