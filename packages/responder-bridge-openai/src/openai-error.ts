/** The model could not be asked, or gave no whole document. The message holds no key. */
export class OpenAiError extends Error {
  override readonly name = "OpenAiError";
  /** Of the HTTP answer; null: there was none. */
  readonly status: number | null;
  /** Can the same request succeed a little later? */
  readonly canBeTriedAgain: boolean;
  /** How long the API asks to wait before; null: it does not say. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    options: { status?: number; canBeTriedAgain?: boolean; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.status = options.status ?? null;
    this.canBeTriedAgain = options.canBeTriedAgain ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
