import type { Logger } from "pino";
import { BridgeError } from "../errors.ts";
import type { AdapterRegistry } from "../registry/adapter-registry.ts";
import type { AvailableAdapters } from "../registry/available-adapters.ts";
import type {
  Acknowledgement,
  AttentionStore,
  FaultSelection,
  StoredAttention,
  StoredAttentionItem,
} from "../store/attention/interface.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";

export { MAX_COUNTED } from "../store/attention/interface.ts";

/** For how long a failed task needs a person. */
export const FAILURE_HOURS = 24;
/** Maximum faults that one request acknowledges. With SQLite, more would delay all requests. */
export const MAX_ACKNOWLEDGED = 1000;

export const attentionKinds = ["approval", "failure", "callback", "delivery", "adapter"] as const;
export type AttentionKind = (typeof attentionKinds)[number];
export const faultKinds = ["failure", "callback", "delivery", "adapter"] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Something that needs a person: what the store contains, or an adapter that is offline, whose `id` is its name. */
export interface AttentionItem extends Omit<StoredAttentionItem, "kind" | "at"> {
  kind: AttentionKind;
  /** Null if it is unknown since when an adapter is offline. */
  at: number | null;
}

/** What needs a person, or the faults that were acknowledged. */
export interface AttentionList extends Pick<StoredAttention, "receivers"> {
  items: AttentionItem[];
  counts: Record<AttentionKind, number>;
}

/** The faults that a person acknowledges. */
export interface FaultChoice extends Omit<FaultSelection, "kind" | "since"> {
  kind: FaultKind;
}

interface AttentionOptions {
  store: AttentionStore;
  registry: Pick<AdapterRegistry, "list">;
  adapters: Pick<AvailableAdapters, "listForeign">;
  webhooks: Pick<Webhooks, "list">;
  logger: Logger;
  clock?: () => number;
}

export type Attention = ReturnType<typeof createAttention>;

/** Creates the list of what needs a person, from which faults are acknowledged. */
export function createAttention({ store, registry, adapters, webhooks, logger, clock = Date.now }: AttentionOptions) {
  const failedSince = (): number => clock() - FAILURE_HOURS * 3_600_000;
  const listOffline = (): { provider: string; detail: string | null; checkedAt: number | null }[] => [
    ...registry
      .list()
      .filter(({ health }) => health.status === "offline")
      .map(({ provider, health: { detail, checkedAt } }) => ({ provider, detail, checkedAt })),
    ...adapters
      .listForeign()
      .filter(({ health }) => health === "offline")
      .map(({ provider, checkedAt }) => ({ provider, detail: null, checkedAt })),
  ];

  async function listAdapters(tenant: string, isAcknowledged: boolean): Promise<AttentionItem[]> {
    const offline = listOffline();
    const known = offline.length === 0 ? new Map<string, Acknowledgement>() : await store.listAdapterAcknowledgements(tenant);
    return offline
      .filter(({ provider }) => known.has(provider) === isAcknowledged)
      .map(({ provider, detail, checkedAt }) => ({
        ...{ kind: "adapter", id: provider, at: checkedAt, task: null, title: null, receiver: null, detail },
        acknowledgement: known.get(provider) ?? null,
      }));
  }

  async function acknowledgeAdapters({ tenant, id }: FaultChoice, by: string): Promise<number> {
    const chosen = listOffline().filter(({ provider }) => id === undefined || provider === id);
    if (id !== undefined && chosen.length === 0) throw notFound();
    let acknowledged = 0;
    for (const { provider } of chosen) {
      if (await store.acknowledgeAdapter(tenant, provider, by)) acknowledged += 1;
      // It came back while the acknowledgment was stored, which would otherwise hide its next fault.
      if (!listOffline().some((adapter) => adapter.provider === provider)) await store.forgetAdapterAcknowledgements(provider);
    }
    return acknowledged;
  }

  return {
    /** Lists what needs a person, at most `limit` items of each kind. With `isAcknowledged`: the faults that were acknowledged. */
    async list(tenant: string, { isAcknowledged, limit }: { isAcknowledged: boolean; limit: number }): Promise<AttentionList> {
      const names = (await webhooks.list(tenant)).map(({ name }) => name);
      const stored = await store.readAttention(tenant, { isAcknowledged, limit, failedSince: failedSince(), webhooks: names });
      const offline = await listAdapters(tenant, isAcknowledged);
      return {
        items: [...stored.items, ...offline.slice(0, limit)],
        counts: { ...stored.counts, adapter: offline.length },
        receivers: stored.receivers,
      };
    },
    /**
     * Acknowledges one fault, those of a receiver, or all of a kind. Returns how many are acknowledged now, and whether there may be more.
     * Throws BridgeError: not_found.
     */
    async acknowledge({ kind, ...choice }: FaultChoice, by: string): Promise<{ acknowledged: number; hasMore: boolean }> {
      if (kind === "adapter") return { acknowledged: await acknowledgeAdapters({ kind, ...choice }, by), hasMore: false };
      // The list does not contain older failures.
      const since = kind === "failure" && choice.id === undefined ? failedSince() : undefined;
      const selection = { kind, ...choice, since };
      const acknowledged = await store.acknowledgeFaults(selection, by, MAX_ACKNOWLEDGED);
      if (choice.id === undefined) return { acknowledged, hasMore: await store.isFault(selection, { isNew: true }) };
      if (acknowledged === 0 && !(await store.isFault(selection))) throw notFound();
      return { acknowledged, hasMore: false };
    },
    /** An adapter of this node is not offline: its next fault is a new one. Never rejects. */
    async onAdapterAvailable(provider: string): Promise<void> {
      try {
        await store.forgetAdapterAcknowledgements(provider);
      } catch (error) {
        logger.warn({ err: error, provider }, "failed to end the acknowledgment of an adapter");
      }
    },
  };
}

const notFound = (): BridgeError => new BridgeError("not_found", "There is no such fault. It may have been mended.");
