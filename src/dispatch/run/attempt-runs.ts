import { sleep } from "@hak2i/async-kit";
import type { Attempt, ExecutionResult, TaskErrorCode } from "#contract";
import { encodeEventData } from "../../events/encode-event-data.ts";
import type { NewEvent } from "../../store/events/interface.ts";
import type { Task } from "../../task.ts";
import type { Slot } from "../scheduler/held-slots.ts";
import { type AttemptRun, type AttemptRunOptions, createAttemptRun, type RunParts } from "./attempt-run.ts";
import { type AttemptEnd, createAttempts, type EndedAttempt } from "./attempts.ts";
import { mayHaveRunBefore, readEarlierRuns } from "./earlier-runs.ts";
import { describeFault } from "./final-result.ts";
import type { FindObstacle } from "./find-obstacle.ts";
import { createLimitWait, type LimitWaitOptions, mayWait } from "./limit-wait.ts";
import { isReplaceable } from "./may-replace.ts";
import type { EarlierSpending } from "./task-meter.ts";

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
  const { store, cooldowns } = options;
  const { outcome, record, clocks } = run;
  const attempts = createAttempts({ ...task, findObstacle: (candidate) => options.findObstacle(task, candidate) });
  const limitWait = createLimitWait(task, options);
  const startedAt = performance.now();
  /** What the task has spent before the current attempt; null if nothing is known. */
  let earlier: EarlierSpending | null = null;
  let current = create();

  function create(): AttemptRun {
    const kind = { ...attempts.current(), isDispatched: attempts.isDispatched(), mayBeFollowed: attempts.allowsAnother || mayWait(task) };
    const attempt = createAttemptRun(task, kind, options, run);
    if (earlier !== null) attempt.meter.setEarlier(earlier);
    return attempt;
  }

  async function addEarlierRuns(): Promise<void> {
    const { hasChildren, ...spending } = await readEarlierRuns(store, task);
    if (hasChildren) run.noteChildren();
    earlier = spending;
    current.meter.setEarlier(spending);
  }

  /** Runs attempts until one is the last, and returns its result. Never rejects. */
  function execute(): Promise<ExecutionResult> {
    return attempts.allowsAnother || mayHaveRunBefore(task) ? executeAll() : current.execute();
  }

  async function executeAll(): Promise<ExecutionResult> {
    let result: ExecutionResult | null = null;
    try {
      const skipped = attempts.begin();
      if (skipped.length > 0) await report(skipped);
      if (mayHaveRunBefore(task)) await addEarlierRuns();
      const hold = limitWait.findHold(attempts.current().provider);
      if (hold !== null) return run.createFailure("rate_limited", hold);
      if (skipped.length > 0) await enter();
      do result = await current.execute();
      while (attempts.allowsAnother && (await isFollowed(result)));
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
    if (status === "ok" || outcome.isDecided() || !isReplaceable(errorCode)) return false;
    if (!(await current.mayBeReplaced(errorCode))) return false;
    limitWait.noteEnd(current.provider, result);
    const delayMs = attempts.mayRetry(errorCode) ? findDelay(errorCode) : null;
    if (delayMs === null && !attempts.findNext()) return false;
    const end = await endAttempt(current, result, run);
    earlier = current.meter;
    await report(delayMs === null ? attempts.replace(end) : attempts.retry(end));
    if (delayMs !== null) await sleep(delayMs, outcome.signal());
    await enter();
    return !outcome.isDecided();
  }

  /** How long to wait before the current candidate is tried again; null if its usage limit ends too late. */
  function findDelay(errorCode: TaskErrorCode): number | null {
    if (errorCode !== "rate_limited") return options.retryMs * 2 ** attempts.retries();
    const waitMs = Math.max(0, (cooldowns.find(current.provider)?.until ?? 0) - Date.now());
    return waitMs <= Math.min(MAX_LIMIT_WAIT_MS, clocks.remainingMs()) ? waitMs : null;
  }

  /** Begins the next attempt, when its adapter has a free slot. */
  async function enter(): Promise<void> {
    const { provider } = attempts.current();
    if (provider !== current.provider) await run.slot.move(provider, outcome.signal());
    current = create();
  }

  const report = (ended: readonly EndedAttempt[]): Promise<void> => storeAttempts(task, { all: attempts.list(), ended }, options);

  return {
    execute,
    current: (): AttemptRun => current,
    /** Returns a task whose last attempt was `rate_limited` to the queue, if it may wait. Returns false if the task has ended. */
    postpone: (result: ExecutionResult): Promise<boolean> => limitWait.postpone(result, current),
    /** Whether it is known that no run of the task has used a model. Call it after `complete`. */
    usedNoModel: (): boolean => current.meter.total().shown === null,
    /** Ends the last attempt, and completes the result of the task: their spending, time and list. Call it once. */
    async complete(result: ExecutionResult): Promise<ExecutionResult> {
      // Other failures of the model can come after it has used tokens that no event shows.
      const hasAnswered = result.errorCode !== "rate_limited" || record.hasAnswered();
      const complete = await current.meter.complete(result, { hasAnswered });
      limitWait.noteEnd(current.provider, result);
      if (!attempts.allowsAnother) return complete;
      const durationMs = attempts.list().some(hasStarted) ? Math.round(performance.now() - startedAt) : complete.durationMs;
      attempts.end(current.toEnd(result));
      return { ...complete, durationMs, attempts: [...attempts.list()] };
    },
  };
}

const hasStarted = ({ startedAt }: Attempt): boolean => startedAt !== null;

/** Ends what a failed attempt has left open. */
async function endAttempt(attempt: AttemptRun, result: ExecutionResult, { clocks, record }: RunParts): Promise<AttemptEnd> {
  const { request: given } = attempt.prepared() ?? {};
  // Until the next attempt begins, there is no runtime that could be idle.
  clocks.start({ timeoutSeconds: given?.timeoutSeconds ?? Number.POSITIVE_INFINITY, idleSeconds: 0 });
  record.endOpenCalls(result, given?.tools);
  record.discardText("The attempt failed, and another one follows.");
  await attempt.meter.close();
  await attempt.meter.complete(result, { hasAnswered: record.hasAnswered() });
  return attempt.toEnd(result);
}

/** Stores the attempts with an event for each that has ended. */
async function storeAttempts(
  task: Task,
  { all, ended }: { all: readonly Attempt[]; ended: readonly EndedAttempt[] },
  { store, eventLog }: Pick<AttemptOptions, "store" | "eventLog">,
): Promise<void> {
  // Hands earlier events to the store first, so that it writes them in their order.
  void eventLog.flush(task);
  await store.reportAttemptsIfRunning(task, { attempts: all, events: ended.map(toEvent) });
}

const toEvent = ({ attempt: { number, provider, model, errorCode, reason }, next }: EndedAttempt): NewEvent => ({
  type: "execution.attempt",
  data: encodeEventData({ number, provider, model, errorCode, reason, next }),
});
