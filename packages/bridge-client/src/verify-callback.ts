import type { ExecutionResult, WebhookType } from "./wire.ts";

/** Maximum difference between the clock and the time of the signature. */
const TOLERANCE_SECONDS = 300;

/** Body of a callback: the result of the task and the fields that identify it. */
export interface CallbackBody extends ExecutionResult {
  taskId: string;
  agentId: string;
  provider: string;
  metadata: Record<string, unknown> | null;
  finishedAt: string;
}

/** Body of a webhook: an event, and where to look in the console. */
export interface WebhookBody {
  /** A type of event. Later versions of Bridge can add types. */
  type: WebhookType | (string & {});
  timestamp: string;
  data: {
    provider: string;
    /** Absent for events that belong to no task. */
    taskId?: string;
    agentId?: string;
    /** The first line of the prompt. */
    title?: string;
    approvalId?: string;
    errorCode?: string;
    /** The name of the node whose adapter is offline. */
    node?: string;
    /** A page of the console. */
    url: string;
  };
}

/** Headers of a request: a `Headers` object of any library, or the headers of Node's `http`. */
type RequestHeaders = Pick<Headers, "get"> | Readonly<Record<string, string | string[] | undefined>>;

/** Options of a verification. */
interface VerifyOptions {
  /** Parses the body. Default: `JSON.parse`, which rounds integers above 2^53. Pass `parseExactJson` to keep them. */
  parseJson?: ((text: string) => unknown) | undefined;
}

/**
 * Verifies a callback by Standard Webhooks. Returns its body if one of the `whsec_…` secrets signed it within the last
 * five minutes, otherwise null. `body` must be the exact bytes of the request. Callbacks are delivered at least once:
 * store the `webhook-id` of each processed one.
 */
export const verifyCallback = (
  headers: RequestHeaders,
  body: string | Uint8Array,
  secrets: readonly string[],
  options: VerifyOptions = {},
): Promise<CallbackBody | null> => verify(headers, body, secrets, options);

/** Verifies a webhook as `verifyCallback` does. The secrets are those of the webhook in the file of the operator. */
export const verifyWebhook = (
  headers: RequestHeaders,
  body: string | Uint8Array,
  secrets: readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookBody | null> => verify(headers, body, secrets, options);

async function verify<Body>(
  headers: RequestHeaders,
  body: string | Uint8Array,
  secrets: readonly string[],
  { parseJson = JSON.parse }: VerifyOptions,
): Promise<Body | null> {
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  if (id === null || timestamp === null || !isRecent(timestamp)) return null;

  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signedBytes = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const signatures = (readHeader(headers, "webhook-signature") ?? "").split(" ").filter((text) => text.startsWith("v1,"));
  // An unset environment variable may be passed as an empty string.
  for (const secret of secrets.filter((text) => text !== "")) {
    const key = await readKey(secret);
    for (const signature of signatures) {
      // `verify` compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, fromBase64(signature.slice("v1,".length)), signedBytes))
        return parseJson(new TextDecoder().decode(bytes)) as Body;
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
  if (bytes.length === 0) throw new TypeError("A callback secret must be whsec_ followed by base64.");
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
