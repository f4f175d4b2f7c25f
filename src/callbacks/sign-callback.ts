import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** Everything a Standard Webhooks signature covers. */
export interface SignedContent {
  /** The `webhook-id`; holds no dot. */
  id: string;
  /** The `webhook-timestamp`, in seconds. */
  timestampSeconds: number;
  /** The exact bytes that are sent. */
  body: Uint8Array;
}

/** Reads `whsec_…` secrets once; making a key anew for each signature costs more than the signature. */
export const readSigningKeys = (secrets: readonly string[]): KeyObject[] =>
  secrets.map((secret) => createSecretKey(secret.replace(/^whsec_/, ""), "base64"));

/** Makes the value of `webhook-signature`: one `v1` signature a key, so that a receiver may know the old or the new secret. */
export function signCallback({ id, timestampSeconds, body }: SignedContent, keys: readonly KeyObject[]): string {
  return keys.map((key) => `v1,${createHmac("sha256", key).update(`${id}.${timestampSeconds}.`).update(body).digest("base64")}`).join(" ");
}
