import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { GatewayError } from "./gateway-error.ts";

const MAX_STARTS = 9;
/** Between the first and the second start; then one more of them each time. */
const DELAY_MS = 250;

/**
 * Starts a run, and once more under another id where the gateway could not begin it: its configuration changed in that moment, by the MCP servers
 * of another task or by its operator, or it was too busy with its own files. `hasBegun` tells whether the run has done anything; then it is not
 * started again.
 */
export async function retryRunStart<T>(signal: AbortSignal, hasBegun: () => boolean, start: (runId: string) => Promise<T>): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await start(randomUUID());
    } catch (error) {
      if (starts === MAX_STARTS || hasBegun() || !couldNotBegin(error)) throw error;
    }
    await delay(starts * DELAY_MS, undefined, { signal });
  }
}

/** They have no code of their own; the words are those of version 2026.9.6, of runs refused and of some that were accepted and had called no model. */
const notBegun = /\bprepared model runtime\b|^another OpenClaw process owns\b/;
const couldNotBegin = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === "UNAVAILABLE" && notBegun.test(error.message);
