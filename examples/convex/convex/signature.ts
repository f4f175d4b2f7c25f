const toleranceSeconds = 300;

/** Was this body signed, within the last five minutes, with one of the secrets? Standard Webhooks, on Web Crypto. */
export async function isGenuine(headers: Headers, body: string, secrets: readonly string[]): Promise<boolean> {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const signatures = headers.get("webhook-signature")?.split(" ") ?? [];
  if (id === null || timestamp === null || !isRecent(timestamp)) return false;

  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const secret of secrets.filter((text) => text.startsWith("whsec_"))) {
    const key = await crypto.subtle.importKey("raw", fromBase64(secret.slice("whsec_".length)), { name: "HMAC", hash: "SHA-256" }, false, [
      "verify",
    ]);
    for (const signature of signatures.filter((text) => text.startsWith("v1,"))) {
      // `verify` compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, fromBase64(signature.slice("v1,".length)), signed)) return true;
    }
  }
  return false;
}

const isRecent = (timestamp: string): boolean => Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return new Uint8Array();
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
