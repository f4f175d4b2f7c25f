import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { withTimeout } from "@hak2i/async-kit";
import { buildConnector } from "undici";
import { type AllowList, readAllowList } from "./allow-list.ts";
import { createDnsCache, type DnsCache, toNodeLookup } from "./dns-cache.ts";
import { isForbidden, isPublic, readAddress } from "./network-address.ts";

/** Decides which hosts Bridge and runtimes may connect to on behalf of a dispatch: callback receivers, MCP servers, fetched URLs. */
export interface DestinationGuard {
  /**
   * Checks scheme, user info and literal address of a URL. Returns a fault to append to the name of its field ("must begin with …"), or
   * null.
   */
  checkUrl(url: string): string | null;
  /**
   * Also checks a URL that another program will connect to, because Bridge cannot check that connection: the host must be in its normalized
   * spelling, and all addresses that it resolves to now must be permitted. Resolves within the time limit, which includes the wait for a
   * lookup slot of the tenant. The fault never contains a resolved address.
   */
  checkDestination(url: string, tenant: string, withinMs: number): Promise<string | null>;
  /** Connects only to permitted destinations. It checks literal and resolved addresses at the moment of the connection. */
  connector: buildConnector.connector;
}

/** Code of the error of a rejected connection. Its message contains no address. */
export const DESTINATION_NOT_ALLOWED = "destination_not_allowed";

/** Creates the guard. `allow`: hosts, `*.suffix`es and CIDRs that are permitted although they are not public. */
export function createDestinationGuard(options: {
  allow: readonly string[];
  dnsCache?: DnsCache;
  connectTimeoutMs?: number;
}): DestinationGuard {
  const allowList = readAllowList(options.allow);
  const { dnsCache = createDnsCache() } = options;
  const connectors = {
    "https:": createConnector({ secure: true }),
    "http:": createConnector({ secure: false }),
  };

  function createConnector({ secure }: { secure: boolean }): buildConnector.connector {
    const connect = buildConnector({
      timeout: options.connectTimeoutMs ?? 15_000,
      allowH2: false,
      lookup: toNodeLookup(async (hostname) => {
        const found = await dnsCache.find(hostname);
        if (!mayReachAll(hostname, found, secure, allowList)) throw createNotAllowedError();
        return found;
      }),
    });
    return (target, done) => {
      const host = normalizeHost(target.hostname);
      // Literal addresses are not looked up, so `lookup` does not check them.
      if (isIP(host) !== 0 && !mayReach(host, host, secure, allowList)) done(createNotAllowedError(), null);
      else connect(target, done);
    };
  }

  async function checkAddresses({ hostname, protocol }: URL, tenant: string, withinMs: number): Promise<string | null> {
    const host = normalizeHost(hostname);
    // checkUrl has checked a literal address.
    if (isIP(host) !== 0) return null;
    const found = await findAddresses(dnsCache, hostname, tenant, withinMs);
    if (typeof found === "string") return found;
    if (mayReachAll(hostname, found, protocol === "https:", allowList)) return null;
    return `names a host with an address that is not permitted; to permit it, add ${host} or its network to BRIDGE_CALLBACK_ALLOW`;
  }

  return {
    checkUrl: (url) => checkUrl(url, allowList),
    checkDestination: async (url, tenant, withinMs) =>
      checkUrl(url, allowList) ?? checkSpelling(url) ?? (await checkAddresses(new URL(url), tenant, withinMs)),
    connector: (target, done) => connectors[target.protocol as keyof typeof connectors](target, done),
  };
}

/** All addresses must be permitted, because any of them may be used. */
const mayReachAll = (hostname: string, found: readonly LookupAddress[], secure: boolean, allowList: AllowList): boolean =>
  found.every(({ address }) => mayReach(hostname, address, secure, allowList));

function mayReach(hostname: string, literal: string, secure: boolean, allowList: AllowList): boolean {
  const host = normalizeHost(hostname);
  const address = readAddress(literal);
  if (metadataHosts.has(host) || isForbidden(address)) return false;
  return allowList.hasHost(host) || allowList.hasAddress(address) || (secure && isPublic(address));
}

function checkUrl(text: string, allowList: AllowList): string | null {
  const url = URL.parse(text);
  if (url === null) return "is not an absolute URL";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or a password";
  const host = normalizeHost(url.hostname);
  if (host === "") return "must contain a host";
  if (url.port === "0") return "must not use port 0";
  return checkHost(host, url.protocol, allowList);
}

function checkHost(host: string, protocol: string, allowList: AllowList): string | null {
  const address = isIP(host) === 0 ? null : readAddress(host);
  if (metadataHosts.has(host) || (address !== null && isForbidden(address))) {
    return "names a link-local or cloud metadata address, which is never permitted";
  }
  if (allowList.hasHost(host) || (address !== null && allowList.hasAddress(address))) return null;
  if (address === null && allowList.hasNetworks) return null; // The addresses of the name are checked when Bridge connects.
  const isInternal = address === null ? /(^|\.)localhost$/.test(host) : !isPublic(address);
  if (isInternal) return `names a host that is not public; to permit it, add ${host} to BRIDGE_CALLBACK_ALLOW`;
  return protocol === "http:" ? `must begin with https://; to permit http://, add ${host} to BRIDGE_CALLBACK_ALLOW` : null;
}

/** Programs parse unusual hosts differently: `010.0.0.1` is 8.0.0.1 or 10.0.0.1, and the host of `a\@b` is a or b. */
function checkSpelling(text: string): string | null {
  const { protocol, hostname } = new URL(text);
  const plain = `${protocol}//${hostname}`;
  const isPlain = text.toLowerCase().startsWith(plain) && /^([:/?#]|$)/.test(text.slice(plain.length));
  return isPlain ? null : `must begin with ${plain}, the normalized spelling of its host`;
}

/** Resolves to all addresses of a host, or to the fault if there are none. */
async function findAddresses(dnsCache: DnsCache, hostname: string, tenant: string, withinMs: number): Promise<LookupAddress[] | string> {
  const unresolvedFault = "names a host that does not resolve";
  const lookupFault = "names a host that cannot be looked up now; try again later";
  if (withinMs <= 0) return lookupFault;
  const timeLimit = new AbortController();
  const lookup = dnsCache
    .prepare(tenant, hostname, timeLimit.signal)
    .then(() => dnsCache.find(hostname))
    .then(
      (found) => (found.length > 0 ? found : unresolvedFault),
      (error: NodeJS.ErrnoException) => (error.code === "ENOTFOUND" ? unresolvedFault : lookupFault),
    );
  return await withTimeout(lookup, withinMs, () => {
    timeLimit.abort();
    return lookupFault;
  });
}

/** Normalizes a host for comparison: no brackets, no trailing dot, lower case. */
const normalizeHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();

/** Host names of cloud metadata services, which return credentials. */
const metadataHosts = new Set(["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.tencentyun.com"]);

const createNotAllowedError = (): Error => Object.assign(new Error("The destination is not allowed."), { code: DESTINATION_NOT_ALLOWED });
