import type { SpendingAnswer, UsageReport } from "#contract";
import type { CallLimit } from "../model-api/call-limit.ts";
import type { ProxyRoute } from "./proxy-plan.ts";
import type { Tap } from "./tap.ts";

/** The task for which calls are forwarded. Its functions must not throw. */
export interface ProxyTask {
  /** Called once for each answered call, before the program gets the end of the response. */
  onCall(report: UsageReport): void;
  /** Whether the task may make another call. May take long, for example until an operator has decided. */
  mayCall(): Promise<SpendingAnswer>;
  /** Called when the vendor has rejected a call because of a limit. */
  onLimit?(limit: CallLimit): void;
}

/** One route of a task. `calls`, `taps` and `state` belong to all routes of the task. */
export interface TaskRoute {
  task: ProxyTask;
  route: ProxyRoute;
  /** The calls that have not ended. */
  calls: Set<Promise<void>>;
  /** The readers of the responses that have not ended. */
  taps: Set<Tap>;
  state: { answered: number; limit: CallLimit | null };
  /** Aborted at the end of the task. */
  signal: AbortSignal;
}
