import { isIP } from "node:net";
import { isInside, type readAddress, readNetwork } from "./network-address.ts";

/** Non-public destinations that the operator permits. */
export interface AllowList {
  /** Whether the list contains the host, itself or by a suffix. Expects lower case. */
  hasHost(host: string): boolean;
  hasAddress(address: ReturnType<typeof readAddress>): boolean;
  /** Whether the list contains addresses, so that a host name may resolve to a permitted one. */
  readonly hasNetworks: boolean;
}

/** Parses a list of hosts, `*.suffix`es, addresses and CIDRs. */
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
