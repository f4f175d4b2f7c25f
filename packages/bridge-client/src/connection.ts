import type { Contact } from "./backoff.ts";
import { BridgeClientError, readError } from "./bridge-client-error.ts";

/** Options of all requests of a client. */
export interface ConnectionOptions {
  /** Ends with a slash. */
  baseUrl: string;
  getToken: () => string | Promise<string>;
  fetch: typeof fetch;
  /** Closes a connection that receives nothing for this long. */
  silenceMs: number;
  parseJson: (text: string) => unknown;
  contact: Contact;
}

/** One request; `path` begins with a slash. */
export interface BridgeRequest {
  path: string;
  method?: "GET" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged instead of `body`. */
  content?: string | Uint8Array<ArrayBuffer>;
  /** How long Bridge may take before it responds, in addition to `silenceMs`. */
  waitMs?: number;
  signal?: AbortSignal | undefined;
}

/** A successful response whose body is not yet read. */
export interface Connection {
  response: Response;
  /** Awaits a chunk of the response. Rejects with `unreachable` when the connection is lost or silent for too long. */
  receive<T>(chunk: Promise<T>): Promise<T>;
  close(): void;
}

/** Sends one request. Rejects with a `BridgeClientError` unless the response is a success, or with the reason of the aborted signal. */
export async function connect(
  { baseUrl, getToken, fetch, silenceMs, contact }: ConnectionOptions,
  { path, method = "GET", headers, body, content, waitMs = 0, signal }: BridgeRequest,
): Promise<Connection> {
  signal?.throwIfAborted();
  const target = baseUrl + path.slice(1);
  // The URL parser resolves the names `.` and `..` even if they are encoded, so the request would go to another path.
  if (new URL(target).href !== target)
    throw new BridgeClientError("not_found", "An id or a path must not be . or .., or contain one of them between slashes.");
  const type = content !== undefined ? "application/octet-stream" : body !== undefined ? "application/json" : undefined;
  const requestHeaders = new Headers({ ...headers, ...(type !== undefined && { "content-type": type }) });
  requestHeaders.set("authorization", `Bearer ${checkToken(await getToken())}`);
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);

  async function receive<T>(chunk: Promise<T>): Promise<T> {
    const limitMs = silenceMs + waitMs;
    const timer = setTimeout(() => controller.abort(new Error(`no data received for ${limitMs / 1000} s`)), limitMs);
    try {
      return await chunk;
    } catch (error) {
      signal?.throwIfAborted();
      throw new BridgeClientError("unreachable", `Cannot reach Bridge at ${baseUrl}: ${describeCause(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  function close(): void {
    signal?.removeEventListener("abort", onAbort);
    controller.abort();
  }

  try {
    const response = await receive(
      fetch(target, {
        method,
        headers: requestHeaders,
        body: content ?? (body === undefined ? null : JSON.stringify(body)),
        signal: controller.signal,
      }),
    );
    contact.hasAnswered = true;
    if (!response.ok) throw await receive(readError(response));
    return { response, receive, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Returns the token without surrounding spaces. Throws if it is invalid, because the error of `fetch` would contain the token. */
function checkToken(token: string): string {
  if (/^[\x20-\x7e]*$/.test(token.trim())) return token.trim();
  throw new TypeError("The token contains characters that are not allowed in a header.");
}

/** Returns the message of the cause, because the error of Node's `fetch` itself is generic. */
function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
