import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { readSystemDnsConfig, type SystemDnsConfig } from "./system-dns-config.ts";

/** Resolves all addresses of a host name. Rejects with `ENOTFOUND` if it has none, with `EAI_AGAIN` if the name servers do not respond. */
export type Lookup = (hostname: string) => Promise<FoundAddress[]>;

/** An address and its time to live in seconds. */
export interface FoundAddress extends LookupAddress {
  ttl?: number;
}

/** Options of a resolver; the optional ones are for tests. */
export interface ResolverOptions {
  /** Whether the name is in the configuration. Only such names are also looked up by the operating system. */
  isConfigured: (hostname: string) => boolean;
  /** Replaces the name servers of the system; `address:port`. */
  servers?: readonly string[];
  systemDnsConfig?: SystemDnsConfig;
  limitMs?: number;
}

/** A query without a response within this time is repeated, to the next name server if there is one. */
const TRY_MS = 1000;
const TRIES_PER_SERVER = 3;
/**
 * Time limit for one name with all its search domains. A callback attempt has 15 s, and the MCP servers of a dispatch have 5 s in total.
 */
const LIMIT_MS = 5000;

/**
 * Creates a lookup that queries the name servers over its own sockets. `getaddrinfo`, which Node uses by default, occupies one of libuv's
 * few threads until a name server responds, so two unresponsive hosts suffice to block all other lookups.
 */
export function createDnsResolver({
  isConfigured,
  servers,
  systemDnsConfig = readSystemDnsConfig(),
  limitMs = LIMIT_MS,
}: ResolverOptions): Lookup {
  return async (hostname) => {
    const local = systemDnsConfig.findHostAddresses(hostname);
    if (local.length > 0) return local.map(toAddress);
    if (/(^|\.)localhost\.?$/i.test(hostname)) return ["127.0.0.1", "::1"].map(toAddress);
    const found = await queryServers(systemDnsConfig.listCandidates(hostname), { servers, limitMs });
    if (found.length > 0) return found;
    // Only the operating system can query mDNS and other sources.
    if (isConfigured(hostname)) return await lookup(hostname, { all: true });
    throw Object.assign(new Error("The host has no address."), { code: "ENOTFOUND" });
  };
}

/** Resolves the addresses of the first candidate name that has any. */
async function queryServers(
  names: readonly string[],
  { servers, limitMs }: { servers: readonly string[] | undefined; limitMs: number },
): Promise<FoundAddress[]> {
  // A resolver per lookup can be canceled separately, has its own port, uses the current name servers, and has no response-time statistics
  // that unresponsive zones have distorted.
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
      failure ??= answers
        .map((answer) => (answer.status === "rejected" ? answer.reason : undefined))
        .find((reason) => !isNameNotFound(reason));
      if (isLate) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (failure === undefined) return [];
  throw Object.assign(new Error("The name servers do not respond."), { code: "EAI_AGAIN", cause: failure });
}

/** Whether the response means that the name does not exist or has no address of this family. */
const isNameNotFound = (reason: unknown): boolean =>
  reason === undefined || (reason instanceof Error && "code" in reason && /^(ENOTFOUND|ENODATA|EBADNAME)$/.test(String(reason.code)));

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });
