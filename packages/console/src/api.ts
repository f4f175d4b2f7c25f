import { type FieldError, parseExactJson } from "bridge-client";
import { bridgeUrl } from "./base-url.ts";
import { noteServerTime } from "./live/server-clock.ts";

/** A page of a list. */
export interface Page<T> {
  data: T[];
  meta: { nextCursor: string | null };
}

/** A failed request. The status is 0 when Bridge did not respond. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[];

  constructor(status: number, code: string, message: string, errors: readonly FieldError[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

/** Options of a request. */
export interface CallOptions {
  method?: "GET" | "POST" | "DELETE";
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Sends requests to Bridge's API. */
export interface Api {
  /** Sends a request and returns the JSON of its response. Rejects with an `ApiError`, or with the reason of an aborted signal. */
  call<T>(path: string, options?: CallOptions): Promise<T>;
  /** Requests a page of a list. Parameters that are empty are omitted. */
  list<T>(path: string, query: Record<string, string | number | undefined>, options?: CallOptions): Promise<Page<T>>;
  /** Downloads a file. */
  download(path: string): Promise<Blob>;
}

/** A response that takes longer counts as lost, so that no page waits forever. */
const RESPONSE_LIMIT_MS = 30_000;

/** Creates the requests of one token, or of none. `onUnauthenticated` is called when Bridge no longer accepts the token. */
export function createApi(token: string | null, onUnauthenticated: () => void): Api {
  async function send(path: string, { method = "GET", body, headers, signal }: CallOptions): Promise<Response> {
    const sentAt = Date.now();
    const response = await fetch(new URL(path.slice(1), bridgeUrl), {
      method,
      headers: {
        ...headers,
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.any([AbortSignal.timeout(RESPONSE_LIMIT_MS), ...(signal === undefined ? [] : [signal])]),
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new ApiError(0, "unreachable", `Bridge does not respond: ${error instanceof Error ? error.message : String(error)}`);
    });
    noteServerTime(response.headers.get("date"), sentAt, Date.now());
    if (response.ok) return response;
    const error = await readError(response);
    if (error.status === 401) onUnauthenticated();
    throw error;
  }

  async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
    const response = await send(path, options);
    return (response.status === 204 ? null : parseExactJson(await response.text())) as T;
  }

  return {
    call,
    list<T>(path: string, query: Record<string, string | number | undefined>, options: CallOptions = {}) {
      const entries = Object.entries(query).flatMap(([name, value]) =>
        value === undefined || value === "" ? [] : [[name, String(value)]],
      );
      return call<Page<T>>(`${path}?${new URLSearchParams(entries)}`, options);
    },
    download: async (path) => (await send(path, {})).blob(),
  };
}

async function readError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  try {
    const { code, detail, errors } = JSON.parse(text) as { code: string; detail: string; errors?: FieldError[] };
    return new ApiError(response.status, code, detail, errors);
  } catch {
    return new ApiError(response.status, "unexpected_answer", `HTTP ${response.status}: ${text.slice(0, 200)}`);
  }
}
