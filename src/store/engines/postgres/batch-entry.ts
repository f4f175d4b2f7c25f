import { UnconfirmedWriteError } from "../../writes.ts";
import type { Operation } from "./batch-transaction.ts";

/** A write that waits for its batch or is part of it. */
export interface BatchEntry extends Operation {
  readonly patient: boolean;
  readonly bytes: number;
  /** Whether the promise of the write is settled. */
  isSettled: boolean;
  resolve(output: unknown): void;
  reject(error: unknown): void;
  /** Rejects the write, whose outcome becomes known with `resolve` or `abandon`. */
  rejectUnconfirmed(cause: unknown): void;
  /** The write took no effect, or its outcome stays unknown. */
  abandon(): void;
}

/** Creates the entry of a write from the functions of its promise. */
export function toEntry(
  operation: Operation & Pick<BatchEntry, "patient" | "bytes">,
  { resolve, reject }: { resolve(output: unknown): void; reject(error: unknown): void },
): BatchEntry {
  let late: PromiseWithResolvers<unknown> | null = null;
  const entry: BatchEntry = {
    ...operation,
    isSettled: false,
    resolve(output) {
      entry.isSettled = true;
      resolve(output);
      late?.resolve(output);
    },
    reject(error) {
      entry.isSettled = true;
      reject(error);
    },
    rejectUnconfirmed(cause) {
      late = Promise.withResolvers();
      entry.reject(new UnconfirmedWriteError(late.promise, cause));
    },
    abandon: () => late?.resolve(null),
  };
  return entry;
}

/** Whether the promise of the write is not settled. */
export const isOpen = ({ isSettled }: BatchEntry): boolean => !isSettled;

/** Whether the order of both writes matters. */
export const hasSameKey = (a: Operation, b: Operation): boolean => keyOf(a) !== null && keyOf(a) === keyOf(b);

const keyOf = ({ kind, input }: Operation) => kind.keyOf(input);

/** Rejects all writes. */
export function rejectAll(entries: readonly BatchEntry[], error: unknown): void {
  for (const entry of entries) entry.reject(error);
}

/** Abandons all writes. Returns null, for a batch without a commit. */
export function abandonAll(entries: readonly BatchEntry[]): null {
  for (const entry of entries) entry.abandon();
  return null;
}
