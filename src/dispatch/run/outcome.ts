import type { ExecutionResult } from "#contract";
import type { StopCode } from "../../task.ts";

/** How a task ends: with the result of its runtime, or stopped before. */
export type Outcome = { result: ExecutionResult } | { stop: StopCode; reason: string };

/** Creates the outcome of a run, which is decided once: by the first of result, timeout, cancellation and shutdown. */
export function createOutcome() {
  let decided: { outcome: Outcome; reason: string } | undefined;
  const first = Promise.withResolvers<Outcome>();
  /** Created when the adapter first requests an approval, because most tasks request none. */
  let controller: AbortController | undefined;

  function decide(outcome: Outcome, reason: string): boolean {
    if (decided !== undefined) return false;
    decided = { outcome, reason };
    controller?.abort(reason);
    first.resolve(outcome);
    return true;
  }

  return {
    /** Resolves when the outcome is decided. */
    decided: first.promise,
    isDecided: (): boolean => decided !== undefined,
    /** Aborted when the outcome is decided; its reason is a message. */
    signal(): AbortSignal {
      controller ??= new AbortController();
      if (decided !== undefined) controller.abort(decided.reason);
      return controller.signal;
    },
    complete: (result: ExecutionResult): boolean => decide({ result }, "The task has ended."),
    /** Returns false if the outcome is decided already. */
    stop: (code: StopCode, reason: string): boolean => decide({ stop: code, reason }, reason),
  };
}
