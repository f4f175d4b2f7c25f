import { BridgeError } from "../errors.ts";

/** How a write behaves while it waits for its commit. */
export interface WriteOptions {
  /** Bridge's own work: waits while the database accepts no writes, in order, instead of failing. */
  patient?: boolean;
  /** Approximate size of a large write, which limits what one commit contains. */
  bytes?: number;
}

/** The database was lost while it committed a write, so its caller got no confirmation. The write may have taken effect. */
export class UnconfirmedWriteError extends BridgeError {
  /** Resolves with what the write returns when the database is back; null if it took no effect. Never rejects. */
  readonly outcome: Promise<unknown>;

  constructor(outcome: Promise<unknown>, cause: unknown) {
    super("storage_unavailable", "Bridge cannot reach its database to find out whether it stored the request. Repeat the request.", {
      cause,
    });
    this.outcome = outcome;
  }
}

/** Returns the outcome of a write that failed: null, unless it was not confirmed and has taken effect. */
export async function readLateOutcome<Output>(error: unknown): Promise<Output | null> {
  return error instanceof UnconfirmedWriteError ? ((await error.outcome) as Output | null) : null;
}
