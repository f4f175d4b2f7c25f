import { BridgeClientError, readRefusal } from "./bridge-client-error.ts";

/** What all requests of a client have in common. */
export interface ConnectionOptions {
  /** Ends with a slash. */
  baseUrl: string;
  getToken: () => string | Promise<string>;
  fetch: typeof fetch;
  /** When nothing has come for so long the connection counts as dead. */
  silenceMs: number;
}

/** One request; `path` begins with a slash. */
export interface BridgeRequest {
  path: string;
  method?: "GET" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  content?: string | Uint8Array<ArrayBuffer>;
  /** How long Bridge may wait before it answers. */
  waitMs?: number;
  signal?: AbortSignal | undefined;
}

/** An answer that has begun, and is a success. */
export interface Connection {
  response: Response;
  /** Awaits a piece of the answer; throws `unreachable` when it breaks off or is too long in coming. */
  receive<T>(piece: Promise<T>): Promise<T>;
  close(): void;
}

/** Sends one request. Whatever is no success throws a `BridgeClientError`, but for the caller's own abort, which throws its reason. */
export async function connect(
  { baseUrl, getToken, fetch, silenceMs }: ConnectionOptions,
  { path, method = "GET", headers, body, content, waitMs = 0, signal }: BridgeRequest,
): Promise<Connection> {
  signal?.throwIfAborted();
  const target = baseUrl + path.slice(1);
  // `.` and `..` as names, which no encoding keeps from being resolved: the request would be another one.
  if (new URL(target).href !== target) throw new BridgeClientError("not_found", "A name of the path is . or .., which leads to nothing.");
  const type = content !== undefined ? "application/octet-stream" : body !== undefined ? "application/json" : undefined;
  const sent = new Headers({ ...headers, ...(type !== undefined && { "content-type": type }) });
  sent.set("authorization", `Bearer ${checkToken(await getToken())}`);
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);

  async function receive<T>(piece: Promise<T>): Promise<T> {
    const limitMs = silenceMs + waitMs;
    const timer = setTimeout(() => controller.abort(new Error(`nothing came for ${limitMs / 1000} s`)), limitMs);
    try {
      return await piece;
    } catch (error) {
      signal?.throwIfAborted();
      throw new BridgeClientError("unreachable", `Bridge cannot be reached at ${baseUrl}: ${describeFault(error)}`, { cause: error });
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
        headers: sent,
        body: content ?? (body === undefined ? null : JSON.stringify(body)),
        signal: controller.signal,
      }),
    );
    if (!response.ok) throw await receive(readRefusal(response));
    return { response, receive, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** A header that cannot be is refused by the platform with its content in the message. */
function checkToken(token: string): string {
  if (/^[\x20-\x7e]*$/.test(token.trim())) return token.trim();
  throw new TypeError("The token holds characters that a header cannot carry.");
}

/** Node's `fetch` hides what happened in the cause. */
function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
