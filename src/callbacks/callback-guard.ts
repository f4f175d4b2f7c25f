import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { withTimeout } from "@hak2i/async-kit";
import { buildConnector } from "undici";
import { type AllowList, readAllowList } from "./allow-list.ts";
import { createNames, type Names, toNodeLookup } from "./names.ts";
import { isForbidden, isPublic, readAddress } from "./network-address.ts";

/** Decides which hosts Bridge may call on behalf of a dispatch. */
export interface CallbackGuard {
  /** What is wrong with a URL as far as scheme, userinfo and a literal address tell, worded to follow its name ("must begin with …"); null when nothing is. */
  checkUrl(url: string): string | null;
  /**
   * The same for a URL that somebody else will connect to, so that nothing checks again later: the host must be spelled plainly,
   * and where it leads now, by every address, must be permitted. Resolves within the time limit, which includes the wait for the tenant's turn
   * to be looked up; the message never contains an address that was found.
   */
  checkDestination(url: string, tenant: string, withinMs: number): Promise<string | null>;
  /** Connects only where the guard allows: literals and every resolved address are checked at the moment of connecting. */
  connector: buildConnector.connector;
}

/** Code of the error with which a refused connection fails; its text never tells the address. */
export const DESTINATION_NOT_ALLOWED = "destination_not_allowed";

/** Makes the guard of outbound requests. `allow` holds hosts, `*.suffix`es and CIDRs that may be reached although they are not public. */
export function createCallbackGuard(options: { allow: readonly string[]; names?: Names; connectTimeoutMs?: number }): CallbackGuard {
  const allowed = readAllowList(options.allow);
  const { names = createNames() } = options;
  const connectors = {
    "https:": createConnector({ secure: true }),
    "http:": createConnector({ secure: false }),
  };

  function createConnector({ secure }: { secure: boolean }): buildConnector.connector {
    const connect = buildConnector({
      timeout: options.connectTimeoutMs ?? 15_000,
      allowH2: false,
      lookup: toNodeLookup(async (hostname) => {
        const found = await names.find(hostname);
        if (!mayReachAll(hostname, found, secure, allowed)) throw destinationNotAllowed();
        return found;
      }),
    });
    return (target, done) => {
      const host = readHost(target.hostname);
      // A literal address is never looked up.
      if (isIP(host) !== 0 && !mayReach(host, host, secure, allowed)) done(destinationNotAllowed(), null);
      else connect(target, done);
    };
  }

  async function checkAddresses({ hostname, protocol }: URL, tenant: string, withinMs: number): Promise<string | null> {
    const host = readHost(hostname);
    // A literal tells by itself where it leads; there is nothing to ask.
    if (isIP(host) !== 0) return null;
    const found = await findAddresses(names, hostname, tenant, withinMs);
    if (typeof found === "string") return found;
    if (mayReachAll(hostname, found, protocol === "https:", allowed)) return null;
    return `names a host with an address that is not permitted; to permit it, add ${host} or its network to BRIDGE_CALLBACK_ALLOW`;
  }

  return {
    checkUrl: (url) => checkUrl(url, allowed),
    checkDestination: async (url, tenant, withinMs) =>
      checkUrl(url, allowed) ?? checkSpelling(url) ?? (await checkAddresses(new URL(url), tenant, withinMs)),
    connector: (target, done) => connectors[target.protocol as keyof typeof connectors](target, done),
  };
}

/** One bad address refuses all: which of them is used in the end is not ours to foresee. */
const mayReachAll = (hostname: string, found: readonly LookupAddress[], secure: boolean, allowed: AllowList): boolean =>
  found.every(({ address }) => mayReach(hostname, address, secure, allowed));

function mayReach(hostname: string, literal: string, secure: boolean, allowed: AllowList): boolean {
  const host = readHost(hostname);
  const address = readAddress(literal);
  if (metadataHosts.has(host) || isForbidden(address)) return false;
  return allowed.hasHost(host) || allowed.hasAddress(address) || (secure && isPublic(address));
}

function checkUrl(text: string, allowed: AllowList): string | null {
  const url = URL.parse(text);
  if (url === null) return "is not an absolute URL";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must not carry a user name or a password";
  const host = readHost(url.hostname);
  if (host === "") return "names no host";
  if (url.port === "0") return "names port 0, which nobody can listen on";
  return checkHost(host, url.protocol, allowed);
}

function checkHost(host: string, protocol: string, allowed: AllowList): string | null {
  const address = isIP(host) === 0 ? null : readAddress(host);
  if (metadataHosts.has(host) || (address !== null && isForbidden(address))) {
    return "names a link-local or cloud metadata address; these are never called";
  }
  if (allowed.hasHost(host) || (address !== null && allowed.hasAddress(address))) return null;
  if (address === null && allowed.hasNetworks) return null; // Where the name leads is known only when it is connected to.
  const internal = address === null ? /(^|\.)localhost$/.test(host) : !isPublic(address);
  if (internal) return `names a host that is not public; to permit it, add ${host} to BRIDGE_CALLBACK_ALLOW`;
  return protocol === "http:" ? `must begin with https://; to permit http://, add ${host} to BRIDGE_CALLBACK_ALLOW` : null;
}

/** Programs read hosts differently: `010.0.0.1` is 8.0.0.1 to one and 10.0.0.1 to another, `a\@b` the host a to one and b to another. */
function checkSpelling(text: string): string | null {
  const { protocol, hostname } = new URL(text);
  const plain = `${protocol}//${hostname}`;
  const isPlain = text.toLowerCase().startsWith(plain) && /^([:/?#]|$)/.test(text.slice(plain.length));
  return isPlain ? null : `must begin with ${plain}, the plain spelling of its host`;
}

/** All addresses of a host, or what to say when there are none to be had. */
async function findAddresses(names: Names, hostname: string, tenant: string, withinMs: number): Promise<LookupAddress[] | string> {
  const unknown = "names a host that does not resolve";
  const unclear = "names a host that cannot be looked up at the moment; try again later";
  if (withinMs <= 0) return unclear;
  const late = new AbortController();
  const answer = names
    .prepare(tenant, hostname, late.signal)
    .then(() => names.find(hostname))
    .then(
      (found) => (found.length > 0 ? found : unknown),
      (error: NodeJS.ErrnoException) => (error.code === "ENOTFOUND" ? unknown : unclear),
    );
  return await withTimeout(answer, withinMs, () => {
    late.abort();
    return unclear;
  });
}

/** A host name as it is compared: without brackets, without the dot of the root, in lower case. */
const readHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();

/** Names under which clouds hand out credentials. */
const metadataHosts = new Set(["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.tencentyun.com"]);

const destinationNotAllowed = (): Error => Object.assign(new Error("The destination is not allowed."), { code: DESTINATION_NOT_ALLOWED });
