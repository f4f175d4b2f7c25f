import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { BridgeError } from "../errors.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import { createPostWorker, type PostMessages, type PostWorkerTools } from "../posts/post-worker.ts";
import type { StoredEvent } from "../store/events/interface.ts";
import type { Page } from "../store/page.ts";
import type { CallbackState, WebhookDelivery, WebhookStore } from "../store/posts/interface.ts";
import { deliveryId } from "./delivery-id.ts";
import { createLogFollower } from "./log-follower.ts";
import { createRedelivery } from "./redelivery.ts";
import { ADAPTER_OFFLINE, BUDGET_ADJUSTED, matchesFilter, type Subscription, type WebhookType } from "./subscription.ts";
import { type AdjustedBudget, buildAdapterBody, buildAdjustmentBody, buildTaskBody } from "./webhook-body.ts";
import { createWebhookOutbox, type DueDelivery } from "./webhook-outbox.ts";
import { openWebhooksFile } from "./webhooks-file.ts";

export { type Subscription, webhookTypes } from "./subscription.ts";

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Options of `createWebhooks`; `pollMs` is for tests. */
export interface WebhooksOptions extends Omit<PostWorkerTools, "logger"> {
  /** Null without webhooks. */
  file: string | null;
  /** Where people reach the console. */
  publicUrl: string;
  /** The name of this node. */
  node: string;
  /** Whether this node follows the log and posts deliveries. */
  delivers: boolean;
  checkUrl(url: string): string | null;
  store: WebhookStore;
  eventLog: Pick<EventLog, "subscribe">;
  metrics: Pick<Metrics, "webhookAttempts" | "webhookDead" | "webhookLag">;
  logger: Logger;
  pollMs?: number;
}

/** A webhook with the numbers of its deliveries. */
export interface ListedWebhook extends Pick<Subscription, "name" | "types" | "filter"> {
  /** Scheme, host and port of its URL. */
  origin: string;
  pending: number;
  dead: number;
}

const messages: PostMessages = {
  attempt: "webhook attempt",
  dead: "webhook delivery dead",
  notRead: "failed to read due webhook deliveries",
  notSettled: "failed to settle webhook delivery, posting it again",
};

/** Creates the webhooks: they follow the event log, and post what their subscribers asked for. Throws ConfigError. */
export function createWebhooks(options: WebhooksOptions) {
  const { file, publicUrl, node, delivers, checkUrl, store, eventLog, metrics, logger, pollMs = 1000, ...tools } = options;
  const opened = file === null ? null : openWebhooksFile({ file, checkUrl, logger, pollMs, onReloaded: () => onReloaded() });
  const subscriptions = opened?.subscriptions ?? (() => none);
  const { release, ...outbox } = createWebhookOutbox(store, subscriptions);
  const worker = createPostWorker<DueDelivery>({
    ...tools,
    outbox,
    toEnvelope: ({ envelope }) => envelope,
    identify: ({ receiver, tenant, type, envelope }) => ({ webhook: receiver, tenant, type, deliveryId: envelope.id }),
    messages,
    metrics: { attempts: metrics.webhookAttempts, dead: metrics.webhookDead, lag: metrics.webhookLag },
    logger,
  });
  const follower = createLogFollower({
    store,
    subscriptions,
    toDelivery: ({ name: webhook, tenant }, event) => ({
      ...{ id: deliveryId(webhook, event), tenant, webhook, type: event.type, task: event.task.seq },
      body: buildTaskBody(event, publicUrl),
    }),
    onDeliveries: ({ tenant, name }) => worker.notify({ tenant, receiver: name }),
    onSkipped: ({ name, tenant }) => logger.warn({ webhook: name, tenant }, "webhook skips events that retention has deleted"),
    onFault: (error) => logger.error({ err: error }, "failed to store webhook deliveries, retrying"),
  });
  let unsubscribe = (): void => {};

  function onReloaded(): void {
    follower.onChanged();
    worker.searchSoon();
  }

  function find(tenant: string, name: string): Subscription {
    const found = subscriptions().find((one) => one.name === name && one.tenant === tenant);
    if (found === undefined) throw new BridgeError("not_found", "There is no such webhook.");
    return found;
  }

  return {
    /**
     * Starts to follow the log, if this node delivers and there is a file. Webhooks that are new in the file get the events that are stored
     * after this has resolved.
     */
    async start(): Promise<void> {
      if (opened === null || !delivers) return;
      unsubscribe = eventLog.subscribe((events) => {
        follower.wake(subscriptions().filter((subscription) => events.some((event) => concerns(subscription, event))));
      });
      await follower.start();
      worker.start();
    },
    /** Call it when another node has stored events. */
    onForeignEvents: follower.wakeSoon,
    /** Call it when another node has released deliveries that it had claimed. */
    onDeliveriesReleased: worker.searchSoon,
    ...createOtherEvents({ node, delivers, publicUrl, subscriptions, add: follower.add }),
    /** Lists the webhooks of a tenant, sorted by name. */
    async list(tenant: string): Promise<ListedWebhook[]> {
      const own = subscriptions().filter((one) => one.tenant === tenant);
      if (own.length === 0) return [];
      const names = own.map(({ name }) => name);
      const counts = new Map((await store.countWebhookDeliveries(tenant, names)).map((count) => [count.webhook, count]));
      return own
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, url, types, filter }) => {
          const { pending = 0, dead = 0 } = counts.get(name) ?? {};
          return { name, origin: new URL(url).origin, types, filter, pending, dead };
        });
    },
    /** Lists the deliveries to a webhook, newest first. Throws BridgeError: not_found. */
    async listDeliveries(tenant: string, name: string, state: CallbackState | undefined, page: Page): Promise<WebhookDelivery[]> {
      find(tenant, name);
      return await store.listWebhookDeliveries({ tenant, webhook: name }, state, page);
    },
    ...createRedelivery({ store, checkExists: find, onRedelivered: (queue) => delivers && worker.notify(queue) }),
    /** Describes all webhooks except for their secrets, for a comparison. The order in the file does not matter. */
    describe: () =>
      subscriptions()
        .map(({ signingKeys: _, ...subscription }) => JSON.stringify(subscription))
        .toSorted(),
    async close(): Promise<void> {
      opened?.close();
      unsubscribe();
      await follower.close();
      await worker.close();
      await release().catch((error: unknown) => logger.warn({ err: error }, "failed to release webhook deliveries"));
    },
  };
}

interface OtherEventParts extends Pick<WebhooksOptions, "node" | "delivers" | "publicUrl"> {
  subscriptions(): readonly Subscription[];
  add: ReturnType<typeof createLogFollower>["add"];
}

/** Creates the functions that notify webhooks of events that belong to no task. */
function createOtherEvents({ node, delivers, publicUrl, subscriptions, add }: OtherEventParts) {
  function notify(type: WebhookType, body: string, chosen: (subscription: Subscription) => boolean): void {
    if (!delivers) return;
    for (const subscription of subscriptions()) {
      const { name: webhook, tenant, types } = subscription;
      if (!types.includes(type) || !chosen(subscription)) continue;
      add(subscription, { id: `msg_${randomBytes(16).toString("hex")}`, tenant, webhook, type, task: null, body });
    }
  }

  return {
    /** Notifies the webhooks that an adapter of this node is offline. */
    onAdapterOffline(provider: string): void {
      const body = buildAdapterBody({ provider, node, at: Date.now() }, publicUrl);
      notify(ADAPTER_OFFLINE, body, ({ filter }) => matchesFilter(filter, { provider }));
    },
    /** Notifies the webhooks of the tenant that a budget was adjusted. */
    onBudgetAdjusted(adjusted: AdjustedBudget): void {
      const body = buildAdjustmentBody(adjusted, Date.now(), publicUrl);
      notify(BUDGET_ADJUSTED, body, ({ tenant, filter }) => tenant === adjusted.tenant && matchesFilter(filter, {}));
    },
  };
}

const concerns = ({ tenant, types }: Subscription, { type, task }: Pick<StoredEvent, "type" | "task">): boolean =>
  tenant === task.tenant && (types as readonly string[]).includes(type);

const none: readonly Subscription[] = [];
