import { sleep } from "@hak2i/async-kit";
import type { ExecutionResult, TaskErrorCode } from "#contract";
import { encodeEventData } from "../../events/encode-event-data.ts";
import type { NewEvent } from "../../store/events/interface.ts";
import type { Task } from "../../task.ts";
import type { Slot } from "../scheduler/held-slots.ts";
import { type AttemptRun, type AttemptRunOptions, createAttemptRun, type RunParts } from "./attempt-run.ts";
import { type AttemptEnd, createAttempts, type EndedAttempt } from "./attempts.ts";
import { describeFault } from "./final-result.ts";
import type { FindObstacle } from "./find-obstacle.ts";
import { createLimitWait, type LimitWaitOptions, mayWait } from "./limit-wait.ts";
import { isReplaceable } from "./may-replace.ts";
import { readSpent } from "./spent.ts";

/** The parts that all attempts of a task use. */
export interface AttemptOptions extends AttemptRunOptions, LimitWaitOptions {
  /** Why a candidate cannot run the task now; null if it can. */
  findObstacle: FindObstacle;
  /** Delay before the first retry after an error of the model. It doubles with each further retry. */
  retryMs: number;
}

/** The longest wait for the end of a usage limit before a retry. */
const MAX_LIMIT_WAIT_MS = 120_000;

/**
 * Creates the attempts of a running task: each runs on the adapter of its candidate, in a slot of it. The task, its time limit and its log
 * are the same for all.
 */
export function createAttemptRuns(task: Task, options: AttemptOptions, run: RunParts & { slot: Slot }) {
  const { store, eventLog, cooldowns } = options;
  const { outcome, record, clocks } = run;
  const { provider, request } = task;
  const attempts = createAttempts({ provider, request, findObstacle: (candidate) => options.findObstacle(task, candidate) });
  const limitWait = createLimitWait(task, options);
  let current = create();

  function create(): AttemptRun {
    const kind = { ...attempts.current(), isDispatched: attempts.isDispatched(), mayBeFollowed: attempts.areListed || mayWait(task) };
    return createAttemptRun(task, kind, options, run);
  }

  /** Runs attempts until one is the last, and returns its result. Never rejects. */
  async function execute(): Promise<ExecutionResult> {
    let result: ExecutionResult | null = null;
    try {
      await report(attempts.begin());
      const hold = limitWait.findHold(attempts.current().provider);
      if (hold !== null) return run.createFailure("rate_limited", hold);
      if (attempts.current().provider !== provider) await enter();
      if (task.restarts > 0 || mayWait(task)) current.meter.setEarlier(await readSpent(store, task));
      do result = await current.execute();
      while (await isFollowed(result));
      return result;
    } catch (error) {
      // A stop ends the wait for the next attempt.
      if (!outcome.isDecided()) run.onUnexpected(error);
      return result ?? run.createFailure("adapter_error", describeFault(error));
    }
  }

  /** Resolves when the next attempt can begin; with false if none follows, so that the result is that of the task. */
  async function isFollowed(result: ExecutionResult): Promise<boolean> {
    const { status, errorCode = "adapter_error" } = result;
    if (status === "ok" || outcome.isDecided() || !attempts.areListed || !isReplaceable(errorCode)) return false;
    if (!(await current.mayBeReplaced(errorCode))) return false;
    limitWait.noteEnd(current.provider, result);
    const delayMs = attempts.mayRetry(errorCode) ? findDelay(errorCode) : null;
    if (delayMs === null && !attempts.findNext()) return false;
    const end = await endAttempt(result);
    const earlier = current.meter.passOn();
    await report(delayMs === null ? attempts.replace(end) : attempts.retry(end));
    if (delayMs === null) await enter();
    else {
      await sleep(delayMs, outcome.signal());
      current = create();
    }
    current.meter.setEarlier(earlier);
    return !outcome.isDecided();
  }

  /** How long to wait before the current candidate is tried again; null if its usage limit ends too late. */
  function findDelay(errorCode: TaskErrorCode): number | null {
    if (errorCode !== "rate_limited") return options.retryMs * 2 ** attempts.retries();
    const waitMs = Math.max(0, (cooldowns.find(current.provider)?.until ?? 0) - Date.now());
    return waitMs <= Math.min(MAX_LIMIT_WAIT_MS, clocks.remainingMs()) ? waitMs : null;
  }

  /** Ends what the failed attempt has left open. */
  async function endAttempt(result: ExecutionResult): Promise<AttemptEnd> {
    const { request: given } = current.prepared() ?? {};
    // Until the next attempt begins, there is no runtime that could be idle.
    clocks.start({ timeoutSeconds: given?.timeoutSeconds ?? Number.POSITIVE_INFINITY, idleSeconds: 0 });
    record.endOpenCalls(result, given?.tools);
    record.discardText("The attempt failed, and another one follows.");
    await current.meter.close();
    await current.meter.complete(result, { hasChildren: run.hasChildren(), hasAnswered: record.hasAnswered() });
    return current.toEnd(result);
  }

  /** Moves the task to the adapter of the current candidate, when that has a free slot. */
  async function enter(): Promise<void> {
    await run.slot.move(attempts.current().provider, outcome.signal());
    current = create();
  }

  /** Stores the attempts with an event for each that has ended. */
  async function report(ended: readonly EndedAttempt[]): Promise<void> {
    if (ended.length === 0) return;
    // Hands earlier events to the store first, so that it writes them in their order.
    void eventLog.flush(task);
    await store.reportAttemptsIfRunning(task, { attempts: attempts.list(), events: ended.map(toEvent) });
  }

  return {
    execute,
    current: (): AttemptRun => current,
    postpone: (result: ExecutionResult): Promise<boolean> => limitWait.postpone(result, current, run.hasChildren()),
    /** Ends the last attempt, and completes the result of the task: what all attempts have spent, and their list. Call it once. */
    async complete(result: ExecutionResult): Promise<ExecutionResult> {
      const complete = await current.meter.complete(result, { hasChildren: run.hasChildren() });
      limitWait.noteEnd(current.provider, result);
      if (!attempts.areListed) return complete;
      attempts.end(current.toEnd(result));
      return { ...complete, attempts: [...attempts.list()] };
    },
  };
}

const toEvent = ({ attempt: { number, provider, model, errorCode, reason }, next }: EndedAttempt): NewEvent => ({
  type: "execution.attempt",
  data: encodeEventData({ number, provider, model, errorCode, reason, next }),
});
