import { z } from "zod";

/** The error object of a failed gateway call. */
export const gatewayErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
  retryable: z.boolean().optional(),
  retryAfterMs: z.number().nonnegative().optional(),
});

/**
 * A failed gateway call. `code` is defined by the gateway (`INVALID_REQUEST`, `UNAVAILABLE`, …) or by Bridge: `DISCONNECTED` (no
 * connection, or lost during the call, which the gateway may still have executed), `TIMEOUT` (no response in time), `ABORTED` (by the
 * caller), `TOO_LARGE` and `TOO_MANY` (not sent).
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

  /** Whether the gateway rejected the call without executing it and asks for a retry. */
  get isBusy(): boolean {
    return this.code === "UNAVAILABLE" && this.retryable;
  }
}

/** Returns `details.code` of a gateway error, which distinguishes errors with the same `code`; null if there is none. */
export function readDetailCode(error: unknown): string | null {
  if (!(error instanceof GatewayError)) return null;
  return z.object({ code: z.string() }).safeParse(error.details).data?.code ?? null;
}
