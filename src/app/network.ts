import { createDestinationGuard } from "../network/destination-guard.ts";
import { createDnsCache } from "../network/dns-cache.ts";
import { createDnsResolver, type Lookup } from "../network/dns-resolver.ts";
import { createGuardedFetch } from "../network/guarded-fetch.ts";

interface NetworkOptions {
  /** Hosts to which requests are permitted although their addresses are private. */
  allow: readonly string[];
  /** Replaces the name servers of this machine; for tests. */
  resolve: Lookup | undefined;
}

/**
 * Creates the resolution of host names and the guard of outgoing requests. Hosts from dispatches share one cache and one limit per tenant.
 * Hosts from settings have no limit.
 */
export function createNetwork({ allow, resolve }: NetworkOptions) {
  const allowedHosts = new Set(allow.map((entry) => entry.toLowerCase()));
  const dnsCache = createDnsCache({ resolve: resolve ?? createDnsResolver({ isConfigured: (host) => allowedHosts.has(host) }) });
  const operatorDnsCache = createDnsCache({ resolve: resolve ?? createDnsResolver({ isConfigured: () => true }) });
  const guard = createDestinationGuard({ allow, dnsCache });
  return { dnsCache, operatorDnsCache, guard, guardedFetch: createGuardedFetch(guard) };
}
