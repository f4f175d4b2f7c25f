import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";

/** The DNS configuration of this host: its hosts file and search domains. */
export interface SystemDnsConfig {
  /** Returns the addresses of the name in the hosts file. */
  findHostAddresses(name: string): readonly string[];
  /** Lists the names to query, in order: the name itself, and the name with each search domain. */
  listCandidates(name: string): string[];
}

/** Reads the hosts file and the resolver's file, and reads them again when they change. An unreadable file counts as empty. */
export function readSystemDnsConfig({ hostsFile = "/etc/hosts", resolverFile = "/etc/resolv.conf" } = {}): SystemDnsConfig {
  const hosts = createFileReader(hostsFile, parseHosts);
  const resolver = createFileReader(resolverFile, parseResolver);
  return {
    findHostAddresses: (name) => hosts().get(name.replace(/\.$/, "").toLowerCase()) ?? [],
    listCandidates(name) {
      if (name.endsWith(".")) return [name];
      const { search, minDots } = resolver();
      const completed = search.map((domain) => `${name}.${domain}`);
      return name.split(".").length > minDots ? [name, ...completed] : [...completed, name];
    },
  };
}

function createFileReader<T>(file: string, parse: (text: string) => T): () => T {
  let version = "";
  let value = parse("");
  return () => {
    try {
      const { ino, mtimeMs, size } = statSync(file);
      if (version === `${ino} ${mtimeMs} ${size}`) return value;
      value = parse(readFileSync(file, "utf8"));
      version = `${ino} ${mtimeMs} ${size}`;
    } catch {
      version = "";
      value = parse("");
    }
    return value;
  };
}

function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const [address = "", ...names] of parseLines(text)) {
    // Addresses with a zone are link-local, and Bridge never connects to those.
    if (isIP(address) === 0 || address.includes("%")) continue;
    for (const name of names) {
      const addresses = hosts.get(name.toLowerCase()) ?? [];
      hosts.set(name.toLowerCase(), [...addresses.filter((known) => known !== address), address]);
    }
  }
  return hosts;
}

function parseResolver(text: string): { search: string[]; minDots: number } {
  let search: string[] = [];
  let minDots = 1;
  for (const [keyword, ...values] of parseLines(text)) {
    // The last of these lines applies.
    if (keyword === "search") search = values;
    if (keyword === "domain") search = values.slice(0, 1);
    if (keyword === "options") minDots = Number(values.findLast((value) => /^ndots:\d+$/.test(value))?.slice("ndots:".length) ?? minDots);
  }
  return { search: search.map((domain) => domain.replace(/\.$/, "")).filter((domain) => domain !== ""), minDots };
}

/** Splits each line into its words; drops comments. */
const parseLines = (text: string): string[][] =>
  text
    .split("\n")
    .map((line) => line.replace(/[#;].*/, "").trim())
    .filter((line) => line !== "")
    .map((line) => line.split(/\s+/));
