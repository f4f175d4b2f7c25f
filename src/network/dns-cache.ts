import { isIP } from "node:net";
import type { HostLookup } from "#contract";
import { createDnsResolver, type FoundAddress, type Lookup } from "./dns-resolver.ts";

/** Names of hosts, as connections look them up. */
export interface DnsCache {
  /** Returns the cached answer if there is one. Concurrent lookups of one name share one query. */
  find: Lookup;
  /** The same for Node's sockets. */
  lookup: HostLookup;
  /**
   * Resolves when it is the tenant's turn to look the name up, at once when the answer is known; rejects when the signal aborts first.
   * `found` resolves when the answer or the failure is known. A connection within a second uses the cached answer.
   */
  prepare(tenant: string, hostname: string, signal: AbortSignal): Promise<{ found: Promise<void> }>;
}

/**
 * Concurrent lookups of one tenant, with two queries each. A name server rejects queries beyond its own limit (dnsmasq: 150), which would affect
 * other tenants.
 */
const MAX_LOOKUPS_PER_TENANT = 64;
/** Answers are cached for their time to live, but at least this long, so that the connection after a lookup uses the cached answer … */
const MIN_REMEMBERED_MS = 1000;
/** … and at most this long, so that a host that has moved is found. */
const MAX_REMEMBERED_MS = 30_000;
/** Maximum number of cached names. Beyond it the oldest is removed. */
const MAX_REMEMBERED = 2000;

interface Answer {
  addresses: Promise<FoundAddress[]>;
  until: number;
}

interface Turns {
  taken: number;
  waiting: Set<() => void>;
}

/** Creates a cache of names over a resolver; `clock` is for tests. */
export function createDnsCache({
  resolve = createDnsResolver({ isOperators: () => false }),
  clock = () => performance.now(),
}: {
  resolve?: Lookup | undefined;
  clock?: () => number;
} = {}): DnsCache {
  const answers = new Map<string, Answer>();
  const turns = new Map<string, Turns>();

  const isKnown = (hostname: string): boolean => (answers.get(hostname)?.until ?? 0) > clock();

  function find(hostname: string): Promise<FoundAddress[]> {
    const known = answers.get(hostname);
    if (known !== undefined && known.until > clock()) return known.addresses;
    const answer: Answer = { addresses: resolve(hostname), until: Number.POSITIVE_INFINITY };
    const remember = (ms: number): void => {
      answer.until = clock() + ms;
    };
    answer.addresses.then(
      (found) => remember(Math.min(Math.max(lifetimeMs(found), MIN_REMEMBERED_MS), MAX_REMEMBERED_MS)),
      () => remember(MIN_REMEMBERED_MS),
    );
    answers.delete(hostname);
    answers.set(hostname, answer);
    const [oldest] = answers.keys();
    if (answers.size > MAX_REMEMBERED && oldest !== undefined) answers.delete(oldest);
    return answer.addresses;
  }

  /** Resolves when it is the tenant's turn; null when it is now. */
  function takeTurn(tenant: string, signal: AbortSignal): Promise<void> | null {
    const own = turns.get(tenant) ?? { taken: 0, waiting: new Set() };
    turns.set(tenant, own);
    if (own.taken >= MAX_LOOKUPS_PER_TENANT) return waitInLine(own.waiting, signal);
    own.taken += 1;
    return null;
  }

  function endTurn(tenant: string): void {
    const own = turns.get(tenant) as Turns;
    const [next] = own.waiting;
    if (next !== undefined) next();
    else own.taken -= 1;
    if (own.taken === 0) turns.delete(tenant);
  }

  return {
    find,
    lookup: toNodeLookup(find),
    async prepare(tenant, hostname, signal) {
      const name = hostname.replace(/^\[|\]$/g, "");
      if (isIP(name) !== 0) return { found: Promise.resolve() };
      if (isKnown(name)) return { found: settled(find(name)) };
      // Without a wait, the query starts in the same turn of the event loop, so that concurrent lookups of the name share it.
      const turn = takeTurn(tenant, signal);
      if (turn !== null) await turn;
      return { found: settled(find(name)).then(() => endTurn(tenant)) };
    },
  };
}

/** Resolves when a lookup that ends passes its turn on; rejects and leaves the queue when the signal aborts. */
function waitInLine(line: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    line.add(proceed);
    signal.addEventListener("abort", giveUp);

    function proceed(): void {
      line.delete(proceed);
      signal.removeEventListener("abort", giveUp);
      resolve();
    }
    function giveUp(): void {
      line.delete(proceed);
      signal.removeEventListener("abort", giveUp);
      reject(signal.reason);
    }
  });
}

/** A lookup with the signature that Node's sockets, undici and ws take as their option. */
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

/** The shortest time to live in milliseconds; 0 when none is known. */
const lifetimeMs = (found: readonly FoundAddress[]): number =>
  1000 * Math.min(...found.map(({ ttl }) => ttl ?? 0), Number.MAX_SAFE_INTEGER);

const settled = (promise: Promise<unknown>): Promise<void> =>
  promise.then(
    () => {},
    () => {},
  );
