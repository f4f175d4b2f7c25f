import { isIP } from "node:net";
import { isInside, type readAddress, readNetwork } from "./network-address.ts";

/** Destinations that may be called although they are not public. */
export interface AllowList {
  /** Is the host named, by itself or by a suffix? Expects lower case. */
  hasHost(host: string): boolean;
  hasAddress(address: ReturnType<typeof readAddress>): boolean;
  /** Is there any address in the list, so that a name may turn out to be allowed? */
  readonly hasNetworks: boolean;
}

/** Reads hosts, `*.suffix`es, addresses and CIDRs. */
export function readAllowList(entries: readonly string[]): AllowList {
  const isNetwork = (entry: string) => isIP(entry.split("/")[0] as string) !== 0;
  const networks = entries.filter(isNetwork).map(readNetwork);
  const names = entries.filter((entry) => !isNetwork(entry)).map((entry) => entry.toLowerCase());
  const hosts = new Set(names.filter((name) => !name.startsWith("*.")));
  const suffixes = names.filter((name) => name.startsWith("*.")).map((name) => name.slice(1));

  return {
    hasHost: (host) => hosts.has(host) || suffixes.some((suffix) => host.endsWith(suffix) && host !== suffix),
    hasAddress: (address) => isInside(address, networks),
    hasNetworks: networks.length > 0,
  };
}
