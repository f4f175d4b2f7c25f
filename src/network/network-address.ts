import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses: its first address and the length of its prefix in bits. */
export type Network = readonly [Address, number];

/** Parses an address. An IPv4-mapped IPv6 address becomes its IPv4 address. */
export function readAddress(text: string): Address {
  const address = parseAddress(text.replace(/%.*$/, ""));
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Parses a CIDR. A single address is a range of one. */
export function readNetwork(text: string): Network {
  const [first, prefix] = text.split("/");
  const network = parseAddress(first as string);
  if (network instanceof ipaddr.IPv4) return [network, Number(prefix ?? 32)];
  const bits = Number(prefix ?? 128);
  return network.isIPv4MappedAddress() && bits >= 96 ? [network.toIPv4Address(), bits - 96] : [network, bits];
}

/** Writes IPv6 addresses without dots first, as the URL parser does, because ipaddr.js takes `::8.8.8.8` for an IPv4-mapped address. */
const parseAddress = (text: string): Address =>
  isIP(text) === 6 ? ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1)) : ipaddr.IPv4.parse(text);

/** Whether one of the networks contains the address. */
export const isInside = (address: Address, networks: readonly Network[]): boolean =>
  networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));

/** Whether the address is a host on the public internet. Special, translated and tunneled addresses are not. */
export const isPublic = (address: Address): boolean =>
  // ipaddr.js also reports "unicast" for unassigned IPv6 addresses, such as `::7f00:1`, an obsolete form of an IPv4 address.
  address.range() === "unicast" && (address.kind() === "ipv4" || isInside(address, globalUnicastNetworks));

/** Whether the address is link-local or a cloud metadata service, in any form. No setting can permit these. */
export const isForbidden = (address: Address): boolean =>
  [address, ...listEmbeddedAddresses(address)].some((candidate) => isInside(candidate, forbiddenNetworks));

const globalUnicastNetworks = [readNetwork("2000::/3")];

const forbiddenNetworks = [
  "169.254.0.0/16",
  "fe80::/10",
  // Metadata services outside the link-local range: AWS, Google Cloud, Alibaba Cloud, Azure, Oracle Cloud.
  "fd00:ec2::/32",
  "fd20:ce::254",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
].map(readNetwork);

/**
 * The positions of the four bytes of an embedded IPv4 address in IPv6 ranges. Some translation prefixes have several possible positions.
 */
const embeddings: readonly { network: Network; places: readonly (readonly [number, number, number, number])[] }[] = [
  { network: readNetwork("::/96"), places: [[12, 13, 14, 15]] },
  { network: readNetwork("::ffff:0:0:0/96"), places: [[12, 13, 14, 15]] },
  { network: readNetwork("64:ff9b::/96"), places: [[12, 13, 14, 15]] },
  {
    network: readNetwork("64:ff9b:1::/48"),
    places: [
      [6, 7, 9, 10],
      [7, 9, 10, 11],
      [9, 10, 11, 12],
      [12, 13, 14, 15],
    ],
  },
  { network: readNetwork("2002::/16"), places: [[2, 3, 4, 5]] },
  { network: readNetwork("2001::/32"), places: [[4, 5, 6, 7]] },
];

function listEmbeddedAddresses(address: Address): Address[] {
  if (address instanceof ipaddr.IPv4) return [];
  const bytes = address.toByteArray();
  const found = embeddings
    .filter(({ network }) => isInside(address, [network]))
    .flatMap(({ places }) => places.map((place) => place.map((index) => bytes[index] as number)));
  // Teredo inverts the bits of its client's address. ISATAP embeds an IPv4 address in any prefix.
  if (isInside(address, teredoNetworks)) found.push(bytes.slice(12).map((byte) => 255 - byte));
  if (address.parts[5] === 0x5efe && ((address.parts[4] as number) & 0xfdff) === 0) found.push(bytes.slice(12));
  return found.map((octets) => new ipaddr.IPv4(octets));
}

const teredoNetworks = [readNetwork("2001::/32")];
