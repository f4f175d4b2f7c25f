import { z } from "zod";

/** How a gateway says no. */
export const gatewayErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
  retryable: z.boolean().optional(),
  retryAfterMs: z.number().nonnegative().optional(),
});

/**
 * A call that came to nothing. `code` is the gateway's own (`INVALID_REQUEST`, `UNAVAILABLE`, …), or one of ours: `DISCONNECTED` (not connected, or
 * no longer: what was sent may still have been done), `TIMEOUT` (no answer in time), `ABORTED` (by the caller), `TOO_LARGE` and `TOO_MANY` (not sent).
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: string;
  readonly details: unknown;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;

  constructor({ code, message, details, retryable = false, retryAfterMs }: z.infer<typeof gatewayErrorSchema>) {
    super(message);
    this.code = code;
    this.details = details;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs ?? null;
  }

  /** Has the gateway done nothing, and asks to come again? */
  get isBusy(): boolean {
    return this.code === "UNAVAILABLE" && this.retryable;
  }
}

/** The `details.code` of an error, by which the gateway tells kinds of one code apart. */
export function detailCode(error: unknown): string | null {
  if (!(error instanceof GatewayError)) return null;
  return z.object({ code: z.string() }).safeParse(error.details).data?.code ?? null;
}
