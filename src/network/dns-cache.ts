import { isIP } from "node:net";
import type { HostLookup } from "#contract";
import { createDnsResolver, type FoundAddress, type Lookup } from "./dns-resolver.ts";

/** A cache of resolved host names, with a limit on the concurrent lookups of each tenant. */
export interface DnsCache {
  /** Resolves the addresses of a host from the cache or the resolver. Concurrent lookups of one name share one query. */
  find: Lookup;
  /** Like `find`, with the signature that Node's sockets require. */
  lookup: HostLookup;
  /** Whether a connection to the host needs no query now: it is an address, or the result of its lookup is in the cache. */
  isReady(hostname: string): boolean;
  /**
   * Looks a name up in advance, under the tenant's limit of concurrent lookups. Resolves when the lookup has started; rejects if the signal
   * aborts while it waits. `found` resolves when the result is in the cache, also after a failure. Connections within a second use this
   * result.
   */
  prepare(tenant: string, hostname: string, signal: AbortSignal): Promise<{ found: Promise<void> }>;
}

/**
 * Concurrent lookups of one tenant, with two queries each. A name server rejects queries beyond its own limit (dnsmasq: 150), which would
 * affect other tenants.
 */
const MAX_LOOKUPS_PER_TENANT = 64;
/** Minimum cache time. The connection after a lookup must find the result in the cache, whatever its time to live. */
const MIN_CACHED_MS = 1000;
/** Maximum cache time, so that Bridge finds the new address of a host that has moved. */
const MAX_CACHED_MS = 30_000;
/** Maximum number of cached names. The oldest is removed first. */
const MAX_CACHED_NAMES = 2000;

/** The cache time of an entry whose query has no result yet. */
const QUERY_IN_PROGRESS = Number.POSITIVE_INFINITY;

interface CacheEntry {
  addresses: Promise<FoundAddress[]>;
  expiresAt: number;
}

interface LookupSlots {
  taken: number;
  waiting: Set<() => void>;
}

/** Creates an empty cache. `clock` is for tests. */
export function createDnsCache({
  resolve = createDnsResolver({ isConfigured: () => false }),
  clock = () => performance.now(),
}: {
  resolve?: Lookup | undefined;
  clock?: () => number;
} = {}): DnsCache {
  const entries = new Map<string, CacheEntry>();
  const slots = new Map<string, LookupSlots>();

  const getExpiry = (hostname: string): number => entries.get(hostname)?.expiresAt ?? 0;
  const isKnown = (hostname: string): boolean => getExpiry(hostname) > clock();

  function find(hostname: string): Promise<FoundAddress[]> {
    const known = entries.get(hostname);
    if (known !== undefined && known.expiresAt > clock()) return known.addresses;
    const entry: CacheEntry = { addresses: resolve(hostname), expiresAt: QUERY_IN_PROGRESS };
    const remember = (ms: number): void => {
      entry.expiresAt = clock() + ms;
    };
    entry.addresses.then(
      (found) => remember(Math.min(Math.max(findShortestLifetimeMs(found), MIN_CACHED_MS), MAX_CACHED_MS)),
      () => remember(MIN_CACHED_MS),
    );
    entries.delete(hostname);
    entries.set(hostname, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_CACHED_NAMES && oldest !== undefined) entries.delete(oldest);
    return entry.addresses;
  }

  /** Acquires a lookup slot of the tenant. Returns null if one is free now, otherwise a promise that resolves when it is acquired. */
  function acquireSlot(tenant: string, signal: AbortSignal): Promise<void> | null {
    const own = slots.get(tenant) ?? { taken: 0, waiting: new Set() };
    slots.set(tenant, own);
    if (own.taken >= MAX_LOOKUPS_PER_TENANT) return waitForSlot(own.waiting, signal);
    own.taken += 1;
    return null;
  }

  function releaseSlot(tenant: string): void {
    const own = slots.get(tenant) as LookupSlots;
    const [next] = own.waiting;
    if (next !== undefined) next();
    else own.taken -= 1;
    if (own.taken === 0) slots.delete(tenant);
  }

  return {
    find,
    lookup: toNodeLookup(find),
    isReady(hostname) {
      const name = removeBrackets(hostname);
      return isIP(name) !== 0 || (isKnown(name) && getExpiry(name) !== QUERY_IN_PROGRESS);
    },
    async prepare(tenant, hostname, signal) {
      const name = removeBrackets(hostname);
      if (isIP(name) !== 0) return { found: Promise.resolve() };
      if (isKnown(name)) return { found: ignoreOutcome(find(name)) };
      // If a slot is free, the query starts in this event-loop turn, so that concurrent lookups of the name share it.
      const acquiring = acquireSlot(tenant, signal);
      if (acquiring !== null) await acquiring;
      return { found: ignoreOutcome(find(name)).then(() => releaseSlot(tenant)) };
    },
  };
}

const removeBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

/** Resolves when a finished lookup passes its slot on; rejects and leaves the queue when the signal aborts. */
function waitForSlot(waiters: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    waiters.add(proceed);
    signal.addEventListener("abort", giveUp);

    function proceed(): void {
      waiters.delete(proceed);
      signal.removeEventListener("abort", giveUp);
      resolve();
    }
    function giveUp(): void {
      waiters.delete(proceed);
      signal.removeEventListener("abort", giveUp);
      reject(signal.reason);
    }
  });
}

/** Converts a lookup to the signature of the `lookup` option of Node's sockets, undici and ws. */
export function toNodeLookup(lookup: Lookup): HostLookup {
  return (hostname, { all, family }, done) => {
    lookup(hostname).then(
      (addresses) => {
        const found = addresses.filter((address) => !family || address.family === Number(String(family).replace("IPv", "")));
        const first = found[0];
        if (first === undefined) done(Object.assign(new Error("The host has no address."), { code: "ENOTFOUND" }), []);
        else if (all) done(null, found);
        else done(null, first.address, first.family);
      },
      (error) => done(error, []),
    );
  };
}

/** Returns the shortest time to live in milliseconds; 0 if none is known. */
const findShortestLifetimeMs = (found: readonly FoundAddress[]): number =>
  1000 * Math.min(...found.map(({ ttl }) => ttl ?? 0), Number.MAX_SAFE_INTEGER);

const ignoreOutcome = (promise: Promise<unknown>): Promise<void> =>
  promise.then(
    () => {},
    () => {},
  );
