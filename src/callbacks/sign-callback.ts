import { createHmac } from "node:crypto";

/** Everything a Standard Webhooks signature covers. */
export interface SignedContent {
  /** The `webhook-id`; holds no dot. */
  id: string;
  /** The `webhook-timestamp`, in seconds. */
  timestampSeconds: number;
  /** The exact bytes that are sent. */
  body: Uint8Array;
}

/** Makes the value of `webhook-signature`: one `v1` signature a secret (`whsec_…`), so that a receiver may know the old or the new one. */
export function signCallback({ id, timestampSeconds, body }: SignedContent, secrets: readonly string[]): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestampSeconds}.`).update(body).digest("base64")}`;
    })
    .join(" ");
}
