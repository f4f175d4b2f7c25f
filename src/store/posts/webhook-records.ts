import type { Callback, StoredEvent } from "../tasks/records.ts";

/** A webhook of a tenant, by its name. */
export interface WebhookKey {
  tenant: string;
  webhook: string;
}

/** An event of the log as webhooks see it. */
export interface WebhookEvent extends Omit<StoredEvent, "data"> {
  title: string | null;
  labels: Readonly<Record<string, string>>;
  errorCode: string | null;
  /** Null if the event concerns no approval. */
  approvalId: string | null;
}

/** The next part of the log for a webhook. */
export interface WebhookPage {
  /** The stored position of the webhook. */
  cursor: number;
  /** The number of the last event that was examined. */
  through: number;
  /** Whether the log continues after it. */
  hasMore: boolean;
  /** Whether retention has deleted events after `cursor`, which are skipped. */
  isBehind: boolean;
  events: WebhookEvent[];
}

/** A delivery to a webhook about to be stored. */
export interface NewDelivery extends WebhookKey {
  /** The `webhook-id` of every attempt. */
  id: string;
  type: string;
  /** The number of the task that it concerns; null if there is none. */
  task: number | null;
  body: string;
}

/** Deliveries to store. With `move`, they are stored only if the webhook still has the position `from`, which becomes `to`. */
export interface NewDeliveries {
  deliveries: readonly NewDelivery[];
  move?: { webhook: string; from: number; to: number };
}

/** A delivery to a webhook. Times are ms since the epoch. */
export interface WebhookDelivery extends NewDelivery, Omit<Callback, "task" | "url"> {
  /** The number of the row, from which a list continues. */
  seq: number;
  /** POSTs made in this round: the position in the schedule. */
  roundAttempts: number;
  createdAt: number;
}

/** The number of deliveries to a webhook that are pending or dead. */
export interface WebhookCounts {
  webhook: string;
  pending: number;
  dead: number;
}

/** A claimed delivery, with the number of its earlier attempts. */
export type ClaimedDelivery = Pick<WebhookDelivery, "seq" | "attempts">;
