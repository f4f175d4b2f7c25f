import type { ExecutionResult } from "./wire.ts";

/** A signature counts for so long, before and after its time. */
const TOLERANCE_SECONDS = 300;

/** The body of a callback: the task's result and what names the task. */
export interface CallbackBody extends ExecutionResult {
  taskId: string;
  agentId: string;
  provider: string;
  metadata: Record<string, unknown> | null;
  finishedAt: string;
}

/** Headers of a request as the platforms hand them out: `Request.headers`, of whichever library, or those of Node's `http`. */
type RequestHeaders = Pick<Headers, "get"> | Readonly<Record<string, string | string[] | undefined>>;

/**
 * The body of a callback that was signed within the last five minutes with one of the `whsec_…` secrets, else null (Standard Webhooks).
 * `body` must be what came, byte for byte. A callback comes at least once: keep the `webhook-id` or the `taskId` of what you have done.
 */
export async function verifyCallback(
  headers: RequestHeaders,
  body: string | Uint8Array,
  secrets: readonly string[],
): Promise<CallbackBody | null> {
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  if (id === null || timestamp === null || !isRecent(timestamp)) return null;

  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const signatures = (readHeader(headers, "webhook-signature") ?? "").split(" ").filter((text) => text.startsWith("v1,"));
  // An environment variable that is not set arrives as an empty text.
  for (const secret of secrets.filter((text) => text !== "")) {
    const key = await readKey(secret);
    for (const signature of signatures) {
      // `verify` compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, fromBase64(signature.slice("v1,".length)), signed))
        return JSON.parse(new TextDecoder().decode(bytes)) as CallbackBody;
    }
  }
  return null;
}

function readHeader(headers: RequestHeaders, name: string): string | null {
  if (typeof headers.get === "function") return headers.get(name);
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === "string" ? value : null;
}

const isRecent = (timestamp: string): boolean => Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;

function readKey(secret: string) {
  const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : new Uint8Array();
  if (bytes.length === 0) throw new TypeError("A secret of callbacks is whsec_ followed by base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return new Uint8Array();
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function concatenate(start: Uint8Array, end: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(start.length + end.length);
  whole.set(start);
  whole.set(end, start.length);
  return whole;
}
