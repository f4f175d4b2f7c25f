/** A request to the model failed or returned no complete document. The message does not contain the key. */
export class OpenAiError extends Error {
  override readonly name = "OpenAiError";
  /** HTTP status; null when there was no response. */
  readonly status: number | null;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** Pause that the API requests before a retry; null: none. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { status?: number; isRetryable?: boolean; retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.status = options.status ?? null;
    this.isRetryable = options.isRetryable ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
