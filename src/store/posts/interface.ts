import type { EventType } from "#contract";
import type { TaskIdentity } from "../../task.ts";
import type { NewEvent, StoredEvent } from "../events/interface.ts";
import type { Page } from "../page.ts";
import type { Gap } from "../tasks/gapped-json.ts";

/** The callback outbox. */
export interface CallbackStore {
  findCallback(taskSeq: number): Promise<Callback | null>;
  /** As `findCallback`, with the history of attempts. */
  findCallbackDetails(taskSeq: number): Promise<CallbackDetails | null>;
  listCallbacks(tenant: string, state: CallbackState | undefined, page: Page): Promise<Callback[]>;
  /** Called with each new callback as soon as it is durable. The listener must not throw. One listener only: the callback worker. */
  onCallback(listener: (callback: DueCallback) => void): void;
  /** Queues that have a due callback. */
  listDueCallbackQueues(): Promise<PostQueue[]>;
  /** Due callbacks of one queue, the longest due first, without those in progress. */
  listDueCallbacks(queue: PostQueue, limit: number, inProgress?: ReadonlySet<number>): Promise<DueCallback[]>;
  /** Milliseconds until the next callback that is not due yet, null when there is none. */
  nextCallbackInMs(): Promise<number | null>;
  /** Milliseconds since the end of the earliest task of each tenant whose callback is pending, at most; null when there is none. */
  oldestCallbackMs(): Promise<number | null>;
  /**
   * Counts the POST that followed the first `attempts` POSTs, and settles the row. Returns the number of POSTs; null when the row is no
   * longer pending or this POST is already counted. Part of the next commit.
   */
  settleCallbackIfPending(posted: Pick<DueCallback, "task" | "attempts">, settlement: CallbackSettlement): Promise<number | null>;
  /** Starts a new round of attempts for a dead callback. */
  redeliverCallbackIfDead(taskSeq: number): Promise<Callback | null>;
}

/** The webhooks: their positions in the event log, and the outbox of their deliveries. */
export interface WebhookStore {
  /**
   * Stores the positions of these webhooks, unless they have one, and returns all of them. A new one is that of `from`, which another node
   * has removed, or else the end of the log.
   */
  addWebhooks(names: readonly string[], from?: ReadonlyMap<string, number>): Promise<Map<string, number>>;
  /** Deletes the positions of these webhooks. */
  removeWebhooks(names: readonly string[]): Promise<void>;
  /** Reads the events of these types after the position of the webhook, of the tenant. Null if the webhook has no position. */
  readWebhookEvents(key: WebhookKey, types: readonly EventType[]): Promise<WebhookPage | null>;
  /**
   * Stores deliveries, unless they are stored already or their task was deleted, and moves the position in the same transaction. Returns
   * false if another node has moved it before.
   */
  addWebhookDeliveries(added: NewDeliveries): Promise<boolean>;
  listWebhookDeliveries(key: WebhookKey, state: CallbackState | undefined, page: Page): Promise<WebhookDelivery[]>;
  /** Counts the pending and the dead deliveries to each of these webhooks, each up to 10,000. */
  countWebhookDeliveries(tenant: string, webhooks: readonly string[]): Promise<WebhookCounts[]>;
  findWebhookDelivery(key: WebhookKey, id: string): Promise<WebhookDelivery | null>;
  /** Those of the webhooks that have a due delivery. */
  listDueWebhooks(webhooks: readonly WebhookKey[]): Promise<WebhookKey[]>;
  /**
   * Due deliveries to one webhook, the longest due first, without those in progress. With several nodes, the caller has to post them within
   * half a minute, for which no other node gets them.
   */
  claimDueDeliveries(key: WebhookKey, limit: number, inProgress: ReadonlySet<number>): Promise<WebhookDelivery[]>;
  /** Makes claimed deliveries due again that are not settled, so that another node, or the next start, posts them. */
  releaseDeliveries(claimed: readonly ClaimedDelivery[]): Promise<void>;
  /** Milliseconds until the next delivery to one of the webhooks that is not due yet, null when there is none. */
  nextWebhookInMs(webhooks: readonly WebhookKey[]): Promise<number | null>;
  /** As `settleCallbackIfPending`, without an event. */
  settleDeliveryIfPending(posted: ClaimedDelivery, settlement: PostSettlement): Promise<number | null>;
  /** Starts a new round of attempts for a dead delivery. */
  redeliverWebhookIfDead(key: WebhookKey, id: string): Promise<WebhookDelivery | null>;
}

/** The callback of a finished task. `body`, with its gaps filled, contains the exact bytes of every attempt. */
export interface NewCallback {
  url: string;
  /** scheme://host:port, the unit of fairness between receivers. */
  origin: string;
  body: string;
  /** Present if the body contains all fields of the result, so that the store keeps one copy of them. */
  shared?: SharedResult;
  gaps?: readonly Gap[];
  /** The `webhook-id` of every attempt. */
  messageId?: string;
}

/** A callback body without the fields of the result. They begin at `at`, and are the text between the braces of `resultJson`. */
export interface SharedResult {
  resultJson: string;
  body: string;
  at: number;
}

export const callbackStates = ["pending", "delivered", "dead"] as const;

export type CallbackState = (typeof callbackStates)[number];

/** A task's callback as operators see it. Times are ms since the epoch. */
export interface Callback {
  task: TaskIdentity;
  url: string;
  state: CallbackState;
  /** POSTs made, over all rounds. */
  attempts: number;
  /** Null until the task ends, and unless the state is `pending`. */
  nextAttemptAt: number | null;
  lastStatus: number | null;
  lastError: string | null;
  updatedAt: number;
}

/** The beginning of a response body, as text without control characters. */
export interface ResponseExcerpt {
  text: string;
  /** Whether the body has more than this text. */
  isTruncated: boolean;
}

/** One attempt in the history of a callback. Times are ms since the epoch. */
export interface CallbackAttempt {
  /** Its position among all attempts, over all rounds, beginning with 1. */
  number: number;
  /** When it started. */
  at: number;
  status: number | null;
  error: string | null;
  /** Time until the head of the response or the failure. */
  durationMs: number;
  /** The beginning of the response body; null without a response. */
  response: string | null;
  responseTruncated: boolean;
}

/** A callback with its last attempts, the oldest first. */
export interface CallbackDetails extends Callback {
  history: CallbackAttempt[];
}

/** The pending callbacks of one tenant to one origin, or the pending deliveries to one of its webhooks. */
export interface PostQueue {
  tenant: string;
  /** The origin (scheme, host and port), or the name of the webhook. */
  receiver: string;
}

/** A POST that is due, with everything that it needs: a callback or a delivery to a webhook. Times are ms since the epoch. */
export interface DuePost extends PostQueue {
  /** The number of its row, which is unique among the posts of a worker. */
  row: number;
  url: string;
  /** Empty when the body is long. */
  body: string;
  /** Length of the body in memory, in UTF-16 units: without its long texts. */
  heldLength: number;
  /** Reads a long body in parts, from its start each time; absent when `body` is all of it. */
  readBody?: () => AsyncIterable<string>;
  /** POSTs made, over all rounds. */
  attempts: number;
  /** POSTs made in this round: the position in the schedule. */
  roundAttempts: number;
  /** When what it reports has happened: the end of the task, or the event of the log. */
  happenedAt: number;
  /** The trace context of the dispatch, if it had one. */
  traceparent?: string | null;
}

/** A callback that is due. Its row has the number of its task. */
export interface DueCallback extends Callback, DuePost {
  /** The `webhook-id`; absent in rows of a schema without it. */
  messageId?: string;
  traceparent: string | null;
  tracestate: string | null;
}

/** What the history contains of an attempt, in addition to its outcome. */
export interface AttemptDetails extends Pick<CallbackAttempt, "durationMs"> {
  /** Null without a response. */
  response: ResponseExcerpt | null;
  /** Time from its start to its settlement. */
  startedMsAgo: number;
}

/** The result of one attempt. A `pending` post needs `nextInMs`. */
export interface PostSettlement {
  state: CallbackState;
  nextInMs: number | null;
  lastStatus: number | null;
  lastError: string | null;
  /** Added to the history. Deliveries to webhooks have no history. */
  attempt?: AttemptDetails;
}

/** The result of one attempt to deliver a callback. */
export interface CallbackSettlement extends PostSettlement {
  /** `callback.delivered` or `callback.dead`; null while pending. */
  event: ((attempts: number) => NewEvent) | null;
}

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
interface NewDeliveries {
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
