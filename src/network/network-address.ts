import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses: its first address and the length of its prefix in bits. */
export type Network = readonly [Address, number];

/** Reads an address; the IPv4-mapped form of IPv6 is the IPv4 address that it reaches. */
export function readAddress(text: string): Address {
  const address = parseAddress(text.replace(/%.*$/, ""));
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Reads a CIDR, or a single address as the range of itself alone. */
export function readNetwork(text: string): Network {
  const [first, prefix] = text.split("/");
  const network = parseAddress(first as string);
  if (network instanceof ipaddr.IPv4) return [network, Number(prefix ?? 32)];
  const bits = Number(prefix ?? 128);
  return network.isIPv4MappedAddress() && bits >= 96 ? [network.toIPv4Address(), bits - 96] : [network, bits];
}

/** To ipaddr.js `::8.8.8.8` is mapped, but it is not: only the form without dots, which the URL parser makes, is unmistakable. */
const parseAddress = (text: string): Address =>
  isIP(text) === 6 ? ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1)) : ipaddr.IPv4.parse(text);

/** Does the address lie in one of the networks? */
export const isInside = (address: Address, networks: readonly Network[]): boolean =>
  networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));

/** Is it a host of the public internet? Everything special, translated or tunnelled is not. */
export const isPublic = (address: Address): boolean =>
  // What no registry has given out (`::7f00:1`, for one, the old way to write an IPv4 address) is "unicast" to ipaddr.js, too.
  address.range() === "unicast" && (address.kind() === "ipv4" || isInside(address, globalUnicast));

/** Is it an address that no setting may open: link-local or cloud metadata, in whatever form? */
export const isForbidden = (address: Address): boolean =>
  [address, ...embeddedAddresses(address)].some((candidate) => isInside(candidate, forbidden));

const globalUnicast = [readNetwork("2000::/3")];

const forbidden = [
  "169.254.0.0/16",
  "fe80::/10",
  // Metadata services outside the link-local range: AWS, Google Cloud, Alibaba Cloud, Azure, Oracle Cloud.
  "fd00:ec2::/32",
  "fd20:ce::254",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
].map(readNetwork);

/** Where an IPv6 address of a range carries the four bytes of an IPv4 address; some translators leave several places possible. */
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

function embeddedAddresses(address: Address): Address[] {
  if (address instanceof ipaddr.IPv4) return [];
  const bytes = address.toByteArray();
  const found = embeddings
    .filter(({ network }) => isInside(address, [network]))
    .flatMap(({ places }) => places.map((place) => place.map((index) => bytes[index] as number)));
  // Teredo hides its client's address by inverting it; ISATAP marks an IPv4 address in any prefix.
  if (isInside(address, teredo)) found.push(bytes.slice(12).map((byte) => 255 - byte));
  if (address.parts[5] === 0x5efe && ((address.parts[4] as number) & 0xfdff) === 0) found.push(bytes.slice(12));
  return found.map((octets) => new ipaddr.IPv4(octets));
}

const teredo = [readNetwork("2001::/32")];
