import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** The fields that a Standard Webhooks signature covers in addition to the body. */
export interface SignedHead {
  /** The `webhook-id`; contains no dot. */
  id: string;
  /** The `webhook-timestamp`, in seconds. */
  timestampSeconds: number;
}

/** Everything a Standard Webhooks signature covers. */
export interface SignedContent extends SignedHead {
  /** The exact bytes that are sent. */
  body: Uint8Array;
}

/** Parses `whsec_…` secrets once, because creating a key costs more than a signature. */
export const readSigningKeys = (secrets: readonly string[]): KeyObject[] =>
  secrets.map((secret) => createSecretKey(secret.replace(/^whsec_/, ""), "base64"));

/** Returns the value of `webhook-signature`: one `v1` signature per key, so that receivers can verify with the old or the new secret. */
export function signCallback({ body, ...head }: SignedContent, keys: readonly KeyObject[]): string {
  const signature = startSignature(head, keys);
  signature.update(body);
  return signature.end();
}

/** Starts a signature of a body that is passed in parts. */
export function startSignature({ id, timestampSeconds }: SignedHead, keys: readonly KeyObject[]) {
  const hmacs = keys.map((key) => createHmac("sha256", key).update(`${id}.${timestampSeconds}.`));
  return {
    update(part: Uint8Array): void {
      for (const hmac of hmacs) hmac.update(part);
    },
    end: (): string => hmacs.map((hmac) => `v1,${hmac.digest("base64")}`).join(" "),
  };
}
