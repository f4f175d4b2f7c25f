/** An invalid field of a request: its dotted path and how to correct it. */
export interface FieldError {
  path: string;
  message: string;
}

/** Problem document of a rejected request (RFC 9457). */
interface Problem {
  code: string;
  detail: string;
  requestId: string;
  errors?: FieldError[];
  queue?: "bridge" | "tenant" | "agent";
}

/**
 * A failed call. `code` is an error code of Bridge (`not_found`, `task_conflict` …) or of the client: `unreachable` (no
 * response), `unexpected_answer` (a response that is not from Bridge, for example from a proxy) or `stream_gap` (events
 * were deleted before they were read). Over the WebSocket, it is also a code of the protocol (`run-not-found` …), or `closed`,
 * `already_followed` or `protocol_violation`.
 */
export class BridgeClientError extends Error {
  override readonly name = "BridgeClientError";
  readonly code: string;
  /** HTTP status; null when there was no response. */
  readonly status: number | null;
  /** Id of the request in Bridge's log; null when there was no response. */
  readonly requestId: string | null;
  readonly errors: readonly FieldError[];
  /** Pause that Bridge requests before a retry. */
  readonly retryAfterMs: number | null;
  /** Only with the code `queue_full`: the queue that is full, of Bridge as a whole, of the tenant or of the agent. */
  readonly queue: "bridge" | "tenant" | "agent" | null;
  /** Close code of the WebSocket; null if no WebSocket was closed. */
  readonly closeCode: number | null;

  constructor(
    code: string,
    message: string,
    options: {
      status?: number;
      requestId?: string | null;
      errors?: readonly FieldError[] | undefined;
      retryAfterMs?: number | null;
      queue?: "bridge" | "tenant" | "agent" | undefined;
      closeCode?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? null;
    this.requestId = options.requestId ?? null;
    this.errors = options.errors ?? [];
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.queue = options.queue ?? null;
    this.closeCode = options.closeCode ?? null;
  }
}

/** Creates the error for a response that is not a success. */
export async function readError(response: Response): Promise<BridgeClientError> {
  const { status, headers } = response;
  const text = await response.text();
  const problem = parseProblem(text);
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return new BridgeClientError(problem?.code ?? "unexpected_answer", problem?.detail ?? `HTTP ${status}: ${text.slice(0, 200)}`, {
    status,
    requestId: problem?.requestId ?? headers.get("x-request-id"),
    errors: problem?.errors,
    queue: problem?.queue,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  });
}

function parseProblem(text: string): Problem | null {
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === "object" && problem !== null && "code" in problem && typeof problem.code === "string"
      ? (problem as Problem)
      : null;
  } catch {
    return null;
  }
}
