import { generateKeyPairSync, sign } from "node:crypto";

/** A certificate for 127.0.0.1 that is its own authority, and its key, in PEM. */
export function createSelfSignedCertificate(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(oid("550403"), utf8("Bridge test"))));
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const year = new Date().getUTCFullYear();
  const validity = sequence(time(`${year - 1}0101000000Z`), time(`${year + 1}0101000000Z`));
  const isAuthority = sequence(oid("551d13"), boolean(true), octets(sequence(boolean(true))));
  const address = sequence(oid("551d11"), octets(sequence(node(0x87, Buffer.from([127, 0, 0, 1])))));
  const certificate = sequence(
    ...[node(0xa0, integer(2)), integer(1), algorithm, name, validity, name],
    ...[publicKey.export({ type: "spki", format: "der" }), node(0xa3, sequence(isAuthority, address))],
  );
  const signature = node(0x03, Buffer.concat([Buffer.of(0), sign("sha256", certificate, privateKey)]));
  const base64 = sequence(certificate, algorithm, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

/** A value of DER with its tag and its length. */
function node(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...content: Buffer[]): Buffer => node(0x30, ...content);
const set = (...content: Buffer[]): Buffer => node(0x31, ...content);
const oid = (hex: string): Buffer => node(0x06, Buffer.from(hex, "hex"));
const utf8 = (text: string): Buffer => node(0x0c, Buffer.from(text));
const octets = (content: Buffer): Buffer => node(0x04, content);
const integer = (value: number): Buffer => node(0x02, Buffer.of(value));
const boolean = (value: boolean): Buffer => node(0x01, Buffer.of(value ? 0xff : 0));
/** The year has four digits. */
const time = (text: string): Buffer => node(0x18, Buffer.from(text));
