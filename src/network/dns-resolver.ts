import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { readSystemDnsConfig, type SystemDnsConfig } from "./system-dns-config.ts";

/** Finds all addresses of a host name. Rejects with `ENOTFOUND` when the name has none, with `EAI_AGAIN` when that cannot be known now. */
export type Lookup = (hostname: string) => Promise<FoundAddress[]>;

/** An address and its time to live in seconds. */
export interface FoundAddress extends LookupAddress {
  ttl?: number;
}

/** Options of a resolver; the optional ones are for tests. */
export interface ResolverOptions {
  /** Whether the operator, not a dispatch, has given the name. Only such names are looked up by the system if the name servers do not know them. */
  isOperators: (hostname: string) => boolean;
  /** Instead of the name servers of the system, as `address:port`. */
  servers?: readonly string[];
  systemDnsConfig?: SystemDnsConfig;
  limitMs?: number;
}

/** A query without an answer within this time is repeated, to the next name server if there is one. */
const TRY_MS = 1000;
const TRIES_PER_SERVER = 3;
/** For one name with all its search domains. A callback has 15 s, the check of a dispatch's MCP servers 5 s in all. */
const LIMIT_MS = 5000;

/**
 * Creates a lookup that queries the name servers over its own sockets. `getaddrinfo`, which Node uses by default, occupies one of
 * libuv's few threads while a name server is silent, and two silent hosts are enough to block all other lookups.
 */
export function createDnsResolver({
  isOperators,
  servers,
  systemDnsConfig = readSystemDnsConfig(),
  limitMs = LIMIT_MS,
}: ResolverOptions): Lookup {
  return async (hostname) => {
    const local = systemDnsConfig.hostAddresses(hostname);
    if (local.length > 0) return local.map(toAddress);
    if (/(^|\.)localhost\.?$/i.test(hostname)) return ["127.0.0.1", "::1"].map(toAddress);
    const found = await askServers(systemDnsConfig.candidates(hostname), { servers, limitMs });
    if (found.length > 0) return found;
    // mDNS and other sources of names that only the system knows.
    if (isOperators(hostname)) return await lookup(hostname, { all: true });
    throw Object.assign(new Error("The host has no address."), { code: "ENOTFOUND" });
  };
}

/** The addresses of the first name that has any. */
async function askServers(
  names: readonly string[],
  { servers, limitMs }: { servers: readonly string[] | undefined; limitMs: number },
): Promise<FoundAddress[]> {
  // A resolver for each lookup can be canceled separately, has its own port, uses the current name servers, and has no measurements that
  // silent zones could have distorted.
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES_PER_SERVER });
  if (servers !== undefined) resolver.setServers(servers);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolver.cancel();
  }, limitMs);
  let failure: unknown;
  try {
    for (const name of names) {
      const answers = await Promise.allSettled([resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })]);
      const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (found.length > 0) return found.map(({ address, ttl }) => ({ ...toAddress(address), ttl }));
      failure ??= answers.map((answer) => (answer.status === "rejected" ? answer.reason : undefined)).find((reason) => !isNoName(reason));
      if (isLate) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (failure === undefined) return [];
  throw Object.assign(new Error("The name servers do not answer."), { code: "EAI_AGAIN", cause: failure });
}

/** Does the answer mean that there is no such name, or no address of this kind? */
const isNoName = (reason: unknown): boolean =>
  reason === undefined || (reason instanceof Error && "code" in reason && /^(ENOTFOUND|ENODATA|EBADNAME)$/.test(String(reason.code)));

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });
