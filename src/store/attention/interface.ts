/** What needs a person, and the acknowledgements of faults. */
export interface AttentionStore {
  readAttention(tenant: string, query: AttentionQuery): Promise<StoredAttention>;
  /** Whether there is such a fault; with `isNew`, one that is not acknowledged. */
  isFault(selection: FaultSelection, options?: { isNew?: boolean }): Promise<boolean>;
  /**
   * Acknowledges at most `limit` faults that are not acknowledged, and returns their number. With PostgreSQL, it leaves out those that are
   * being written, unless the selection has an id. A callback or delivery that dies again is a new fault.
   */
  acknowledgeFaults(selection: FaultSelection, by: string, limit: number): Promise<number>;
  /** The acknowledgements of adapters that are offline, by adapter. */
  listAdapterAcknowledgements(tenant: string): Promise<ReadonlyMap<string, Acknowledgement>>;
  /** Returns false if it is acknowledged already. */
  acknowledgeAdapter(tenant: string, provider: string, by: string): Promise<boolean>;
  /** Deletes the acknowledgements of an adapter that is no longer offline. */
  forgetAdapterAcknowledgements(provider: string): Promise<void>;
}

/** Faults that the store contains: failed tasks, dead callbacks and dead deliveries to webhooks. */
export const storedFaultKinds = ["failure", "callback", "delivery"] as const;

export type StoredFaultKind = (typeof storedFaultKinds)[number];

/** Maximum items of a kind that are counted. With SQLite, a longer count would delay all requests. */
export const MAX_COUNTED = 1000;

/** Who acknowledged a fault: the name of a token. The time is in ms since the epoch. */
export interface Acknowledgement {
  by: string;
  at: number;
}

/** Something that needs a person. */
export interface StoredAttentionItem {
  kind: "approval" | StoredFaultKind;
  /** Of the approval or the delivery; otherwise of the task. */
  id: string;
  /** When it arose, in ms since the epoch. */
  at: number;
  /** Null if a delivery concerns no task. */
  task: { taskId: string; agentId: string; provider: string } | null;
  title: string | null;
  /** The origin of a callback, or the name of a webhook. */
  receiver: string | null;
  /** The tool that waits for an approval, the error code of a task, or the last error of a callback or delivery. */
  detail: string | null;
  acknowledgement: Acknowledgement | null;
}

/** Which items are read: those that wait, or the faults that were acknowledged. */
export interface AttentionQuery {
  isAcknowledged: boolean;
  /** Of each kind. */
  limit: number;
  /** Failures before this time are left out; in ms since the epoch. */
  failedSince: number;
  /** The webhooks whose deliveries count. Those of others cannot be redelivered. */
  webhooks: readonly string[];
}

/** Items of each kind, oldest approvals and newest faults first, with the number of all, counted up to `MAX_COUNTED`. */
export interface StoredAttention {
  items: StoredAttentionItem[];
  counts: Record<StoredAttentionItem["kind"], number>;
  receivers: { kind: "callback" | "delivery"; receiver: string; count: number }[];
}

/** The faults of a kind: one of them, those of a receiver, or all. */
export interface FaultSelection {
  tenant: string;
  kind: StoredFaultKind;
  id?: string | undefined;
  receiver?: string | undefined;
  /** Only faults that arose after this time; in ms since the epoch. */
  since?: number | undefined;
  /** Only faults that arose until then; in ms since the epoch. */
  until?: number | undefined;
}
