import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { GatewayError } from "./gateway-error.ts";

const MAX_STARTS = 9;
/** Delay before the second attempt. Each further delay is longer by this amount. */
const DELAY_MS = 250;

/**
 * Starts a run, and retries with a new id if the gateway could not start it because its configuration changed at that moment (by the
 * operator or by the MCP servers of another task) or because another process had locked its files. Does not retry a run that has produced
 * output, as `hasStarted` reports.
 */
export async function retryRunStart<T>(signal: AbortSignal, hasStarted: () => boolean, start: (runId: string) => Promise<T>): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await start(randomUUID());
    } catch (error) {
      if (starts === MAX_STARTS || hasStarted() || !isStartFailure(error)) throw error;
    }
    await delay(starts * DELAY_MS, undefined, { signal });
  }
}

/**
 * Messages of version 2026.9.6 for runs that were rejected, or accepted and aborted before their first model call. The gateway has no error
 * code for them.
 */
const NOT_STARTED = /\bprepared model runtime\b|^another OpenClaw process owns\b/;
const isStartFailure = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === "UNAVAILABLE" && NOT_STARTED.test(error.message);
