import { withTimeout } from "@hak2i/async-kit";
import type { ExecutionAdapter, ExecutionResult } from "#contract";

/** A runtime that works on a task. */
interface RunningRuntime {
  /** Null if it was not started. */
  adapter: Pick<ExecutionAdapter, "cancel"> | null;
  /** The handle of the task; undefined if the runtime was not started. */
  handle: string | undefined;
  execution: Promise<ExecutionResult>;
}

/** Options of the stop. */
interface StopOptions {
  /** Time that the runtime may take to end before the task ends without it. */
  graceMs: number;
  onError(error: unknown): void;
  /** Called when a result arrives that is too late to be the result of the task. */
  onLateResult(): void;
}

/** Cancels the runtime and waits for its end, at most for the grace time. Returns its result, if any. */
export async function stopRuntime(
  { adapter, handle, execution }: RunningRuntime,
  { graceMs, onError, onLateResult }: StopOptions,
): Promise<ExecutionResult | undefined> {
  if (handle !== undefined && adapter !== null) void cancel(adapter, handle, onError);
  const partial = await withTimeout(execution, graceMs, () => undefined);
  if (partial === undefined || partial.status === "ok") void execution.then(onLateResult);
  return partial;
}

/** An async function, because third-party adapters may throw synchronously or return no promise. */
async function cancel(adapter: Pick<ExecutionAdapter, "cancel">, handle: string, onError: StopOptions["onError"]): Promise<void> {
  try {
    await adapter.cancel(handle);
  } catch (error) {
    onError(error);
  }
}

/** Builds the result of a stopped task: its failure, and the usage, output and session that the runtime reported until then. */
export function toStoppedResult(failure: ExecutionResult, partial: ExecutionResult | undefined): ExecutionResult {
  const { usage, costUsd, costSource, model, resumeToken, conversationMessages, connection } = partial ?? {};
  const output = partial?.status === "error" ? partial.output : undefined;
  const known = { output, usage, costUsd, costSource, model, resumeToken, conversationMessages, connection };
  return {
    ...failure,
    ...(Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as Partial<ExecutionResult>),
  };
}
