import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { type AllowList, readAllowList } from "./allow-list.ts";
import { isForbidden, isPublic, readAddress } from "./network-address.ts";

/** Finds all addresses of a host name. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/** Decides which hosts Bridge may call on behalf of a dispatch. */
export interface CallbackGuard {
  /** What is wrong with a URL as far as scheme, userinfo and a literal address tell, worded to follow its name ("must begin with …"); null when nothing is. */
  checkUrl(url: string): string | null;
  /** Connects only where the guard allows: literals and every resolved address are checked at the moment of connecting. */
  connector: buildConnector.connector;
}

/** Code of the error with which a refused connection fails; its text never tells the address. */
export const DESTINATION_NOT_ALLOWED = "destination_not_allowed";

/** Makes the guard of outbound requests. `allow` holds hosts, `*.suffix`es and CIDRs that may be reached although they are not public. */
export function createCallbackGuard(options: {
  allow: readonly string[];
  lookup?: Lookup | undefined;
  connectTimeoutMs?: number;
}): CallbackGuard {
  const allowed = readAllowList(options.allow);
  const lookup = shareAnswers(options.lookup ?? ((hostname) => systemLookup(hostname, { all: true })));
  const connectors = {
    "https:": createConnector({ secure: true }),
    "http:": createConnector({ secure: false }),
  };

  function createConnector({ secure }: { secure: boolean }): buildConnector.connector {
    const connect = buildConnector({
      timeout: options.connectTimeoutMs ?? 15_000,
      allowH2: false,
      lookup: toNodeLookup(async (hostname) => {
        const found = await lookup(hostname);
        // One bad address refuses all: which of them is used in the end is not ours to foresee.
        if (!found.every(({ address }) => mayReach(hostname, address, secure, allowed))) throw destinationNotAllowed();
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

  return {
    checkUrl: (url) => checkUrl(url, allowed),
    connector: (target, done) => connectors[target.protocol as keyof typeof connectors](target, done),
  };
}

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

/** A host name as it is compared: without brackets, without the dot of the root, in lower case. */
const readHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();

/** Names under which clouds hand out credentials. */
const metadataHosts = new Set(["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.tencentyun.com"]);

const destinationNotAllowed = (): Error => Object.assign(new Error("The destination is not allowed."), { code: DESTINATION_NOT_ALLOWED });

/** Connections opened at the same time to one host share one question, so a name server that hangs blocks one thread of the few, not eight. */
function shareAnswers(lookup: Lookup): Lookup {
  const asked = new Map<string, Promise<LookupAddress[]>>();
  return (hostname) => {
    const answer = asked.get(hostname) ?? lookup(hostname).finally(() => asked.delete(hostname));
    asked.set(hostname, answer);
    return answer;
  };
}

function toNodeLookup(lookup: Lookup): LookupFunction {
  return (hostname, { all }, done) => {
    lookup(hostname).then(
      (found) => {
        const first = found[0];
        if (first === undefined) done(Object.assign(new Error("The host has no address."), { code: "ENOTFOUND" }), []);
        else if (all) done(null, found);
        else done(null, first.address, first.family);
      },
      (error) => done(error, []),
    );
  };
}
