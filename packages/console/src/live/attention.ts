import type { Adapter, Approval, Attention as Faults } from "bridge-client";
import { type Api, ApiError } from "../api.ts";
import { hasExpired } from "../task-state.ts";
import type { Feed } from "./feed.ts";
import { serverNow } from "./server-clock.ts";

/** What needs a person, and what Bridge's adapters do. */
export interface AttentionState {
  /** Approvals that wait, oldest first. */
  approvals: Approval[];
  /** More approvals wait than those. */
  hasMoreApprovals: boolean;
  /** Failed tasks, dead callbacks and deliveries, and offline adapters that no person has acknowledged. */
  faults: Faults;
  /** When the faults were read, in milliseconds since 1970. */
  faultsAt: number;
  adapters: Adapter[];
  /** Why the last request failed; null while Bridge responds. */
  error: ApiError | null;
  /** False until the first response. */
  isLoaded: boolean;
}

export type Attention = ReturnType<typeof createAttention>;

const INTERVAL_MS = 5_000;
/** While the page is hidden, its title and notifications still need the approvals. */
const HIDDEN_INTERVAL_MS = 20_000;
/** Maximum pause between an event and the request that it causes. */
const AFTER_EVENT_MS = 100;
const MAX_ITEMS = 200;
/** A page of approvals ends early if their inputs are long. */
const MAX_APPROVAL_PAGES = 10;
/** Listed faults of each kind. */
const MAX_FAULTS = 5;

/**
 * Watches what needs a person: waiting approvals and faults. It continues while the page is hidden.
 */
export function createAttention({ api, feed }: { api: Api; feed: Pick<Feed, "subscribe"> }) {
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  let state = NOT_LOADED;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let expiryTimer: ReturnType<typeof setTimeout> | undefined;
  let isLoading = false;
  let isStale = false;

  async function load(): Promise<void> {
    if (isLoading) {
      isStale = true;
      return;
    }
    isLoading = true;
    isStale = false;
    const { signal } = closing;
    try {
      state = await readState(api, signal);
    } catch (error) {
      if (signal.aborted) return;
      state = { ...state, error: error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error)) };
    } finally {
      isLoading = false;
    }
    if (signal.aborted) return;
    publish();
    schedule(isStale ? 0 : document.hidden ? HIDDEN_INTERVAL_MS : INTERVAL_MS);
  }

  /** Calls the listeners now, and again when the next approval expires: it no longer waits, even if Bridge has not rejected it yet. */
  function publish(): void {
    const now = serverNow();
    state = { ...state, approvals: state.approvals.filter((approval) => !hasExpired(approval, now)) };
    for (const listener of listeners) listener();
    clearTimeout(expiryTimer);
    const next = Math.min(
      ...state.approvals.map(({ expiresAt }) => (expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt))),
    );
    if (next === Number.POSITIVE_INFINITY) return;
    expiryTimer = setTimeout(() => {
      publish();
      schedule(AFTER_EVENT_MS);
    }, next - now);
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), delayMs);
  }

  const unsubscribe = feed.subscribe((events) => {
    const isRelevant = events?.some(({ type }) => type !== "execution.started" && type !== "execution.completed") ?? true;
    if (isRelevant) schedule(AFTER_EVENT_MS);
  });
  const onVisibilityChange = (): void => {
    if (!document.hidden) schedule(0);
  };
  document.addEventListener("visibilitychange", onVisibilityChange);
  void load();

  return {
    get state(): AttentionState {
      return state;
    },
    /** Calls the listener after each change until the returned function is called. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Loads now, for example after a decision. */
    refresh: () => schedule(0),
    close(): void {
      closing.abort();
      clearTimeout(timer);
      clearTimeout(expiryTimer);
      unsubscribe();
      listeners.clear();
      document.removeEventListener("visibilitychange", onVisibilityChange);
    },
  };
}

const NOT_LOADED: AttentionState = {
  approvals: [],
  hasMoreApprovals: false,
  faults: { data: [], counts: { approval: 0, failure: 0, callback: 0, delivery: 0, adapter: 0 }, receivers: [] },
  faultsAt: 0,
  adapters: [],
  error: null,
  isLoaded: false,
};

async function readState(api: Api, signal: AbortSignal): Promise<AttentionState> {
  const faultsAt = serverNow();
  const [{ approvals, hasMore }, faults, adapters] = await Promise.all([
    listWaiting(api, signal),
    api.call<Faults>(`/api/v2/attention?limit=${MAX_FAULTS}`, { signal }),
    api.list<Adapter>("/api/v2/adapters", { limit: MAX_ITEMS }, { signal }),
  ]);
  return { approvals, hasMoreApprovals: hasMore, faults, faultsAt, adapters: adapters.data, error: null, isLoaded: true };
}

/** Lists the oldest approvals that wait, because they expire first. */
async function listWaiting(api: Api, signal: AbortSignal): Promise<{ approvals: Approval[]; hasMore: boolean }> {
  const approvals: Approval[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_APPROVAL_PAGES; pages += 1) {
    const query = { state: "pending", order: "oldest", limit: MAX_ITEMS - approvals.length, cursor };
    const { data, meta } = await api.list<Approval>("/api/v2/approvals", query, { signal });
    approvals.push(...data);
    if (meta.nextCursor === null) return { approvals, hasMore: false };
    if (approvals.length === MAX_ITEMS) break;
    cursor = meta.nextCursor;
  }
  return { approvals, hasMore: true };
}
