import type { Logger } from "pino";
import type { AdapterEvent, ExecutionResult, TaskErrorCode } from "#contract";
import type { Metrics } from "../../metrics.ts";
import type { SchemaChecker } from "../../requests/schema-checker.ts";
import type { StopCode, Task, TaskIdentity } from "../../task.ts";
import { type TracedTask, traceFields } from "../../trace-context.ts";
import type { Slot } from "../scheduler/held-slots.ts";
import { type AttemptOptions, createAttemptRuns } from "./attempt-runs.ts";
import { toFinalResult } from "./final-result.ts";
import { createOutcome, type Outcome } from "./outcome.ts";
import { createRunRecord } from "./run-record.ts";
import { stopRuntime, toStoppedResult } from "./stop-runtime.ts";
import { storeEnd } from "./store-end.ts";
import { createTaskClocks, type TaskClocks } from "./task-clocks.ts";
import type { TaskMeter } from "./task-meter.ts";

/** The parts that a run uses, and its limits. */
export interface RunOptions extends AttemptOptions {
  metrics: Metrics;
  logger: Logger;
  schemas: SchemaChecker;
  /** Whether a child task of the task, or of one of its children, has an open tool call. */
  isChildToolOpen(task: TaskIdentity): boolean;
  /** The trace context for what a task starts; null if it belongs to no trace. */
  runTraceparent(task: TracedTask): string | null;
  /** Time that a stopped runtime may take to end before the task ends without it. */
  stopGraceMs: number;
}

/** A task that runs. */
export interface Run {
  readonly task: Task;
  /** The adapter of the current attempt. */
  readonly provider: string;
  /** Whether Bridge can hold the current attempt between two calls of its model. */
  readonly holdsModelCalls: boolean;
  /** The trace context that the task passes on; null if the task belongs to no trace. */
  readonly traceparent: string | null;
  /** Whether the task may have child tasks. Only a running task starts some. */
  hasChildren: boolean;
  /** Whether the outcome is decided. Nothing new may start on behalf of the task then. */
  readonly isOver: boolean;
  /** Aborted when the outcome is decided; its reason is a message. Read it only while the task is not over. */
  readonly overSignal: AbortSignal;
  /** The ended task, or null if it is queued again. */
  readonly ended: Promise<Task | null>;
  /** Resolves when the runtime has ended, which frees the slot. */
  readonly runtimeEnded: Promise<void>;
  /** Resolves when the runtime has ended and the TMPDIR is removed. Never rejects. */
  readonly released: Promise<void>;
  /** Whether the task, or one of its descendants, has an open tool call. */
  isToolOpen(): boolean;
  onEvent(event: AdapterEvent): void;
  /** Sets what a child of the task has spent so far. */
  setChildSpent: TaskMeter["setChild"];
  /** Decides the outcome; returns false if it is decided already. */
  stop(code: StopCode, reason: string): boolean;
  /** Milliseconds of the task's timeout that are left. */
  remainingMs: TaskClocks["remainingMs"];
  /** Restarts the idle clock. */
  touch: TaskClocks["touch"];
  /** Pauses the clocks until the returned function is called. */
  pauseClocks: TaskClocks["pause"];
}

/** Stops for which the task is not responsible. */
const INTERRUPTIONS: ReadonlySet<StopCode> = new Set(["bridge_restarted", "bridge_shutdown"]);

/** Runs one task on its adapter, or on those of its fallbacks, and stores its end. */
export function runTask(task: Task, slot: Slot, options: RunOptions): Run {
  const { store, eventLog, workspaces, metrics, logger, schemas } = options;
  const traceparent = options.runTraceparent(task);
  const startedAt = performance.now();
  const outcome = createOutcome();
  const record = createRunRecord(task, eventLog);
  const isToolOpen = (): boolean => record.hasOpenCall() || options.isChildToolOpen(task);
  const clocks = createTaskClocks({
    onTimeout: (seconds) => outcome.stop("timeout", record.appendWarningTo(`The task took longer than ${seconds} s.`)),
    onIdle: (seconds) => outcome.stop("idle_timeout", record.appendWarningTo(`The runtime emitted no event for ${seconds} s.`)),
    isToolOpen,
  });
  const parts = {
    slot,
    outcome,
    record,
    clocks,
    traceparent,
    createFailure,
    onUnexpected: logUnexpected,
    hasChildren: () => run.hasChildren,
  };
  const attempts = createAttemptRuns(task, options, parts);
  const runtimeEnded = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();

  async function runToEnd(): Promise<Task | null> {
    // In a later turn, so that the caller can register the run before its first event.
    await null;
    const execution = attempts.execute().finally(runtimeEnded.resolve);
    void execution.then(outcome.complete);
    const decided = await outcome.decided;
    clocks.close();
    if ("result" in decided)
      return finish(
        await toFinalResult(task, decided.result, { prepared: attempts.current().prepared(), schemas, createFailure }),
        decided,
      );
    const partial = await stopRuntime(
      { adapter: attempts.current().adapter, handle: attempts.current().prepared()?.request.taskId, execution },
      {
        ...{ graceMs: options.stopGraceMs, onError: logUnexpected },
        onLateResult: () => metrics.lateResults.inc({ provider: attempts.current().provider }),
      },
    );
    return finish(toStoppedResult(createFailure(decided.stop, decided.reason), partial), decided);
  }

  function onEvent(event: AdapterEvent): void {
    const isLate = outcome.isDecided();
    const isUsage = event.type === "usage.reported";
    if (!isLate) clocks.touch();
    // A call of the model that is in progress when the task is stopped is reported later, and counts.
    if (isUsage ? !attempts.current().meter.add(event.data) : isLate)
      metrics.eventsDropped.inc({ provider: attempts.current().provider, reason: isLate ? "late" : "invalid" });
    else if (!isUsage) record.add(event);
  }

  function createFailure(errorCode: TaskErrorCode, error: string): ExecutionResult {
    return { status: "error", durationMs: Math.round(performance.now() - startedAt), errorCode, error, connection: "in-process" };
  }

  /** Stores the end of the task, or returns it to the queue after an interruption of Bridge if the dispatch allows a retry. */
  async function finish(result: ExecutionResult, decided: Outcome): Promise<Task | null> {
    record.endOpenCalls(result, attempts.current().prepared()?.request.tools);
    await attempts.current().meter.close();
    // Hands the buffered events to the store, so that it writes them before the end of the task.
    void eventLog.flush(task);
    const isInterrupted = "stop" in decided && INTERRUPTIONS.has(decided.stop);
    if (isInterrupted && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task))) return null;
    if ("result" in decided && (await attempts.postpone(result))) {
      void releaseDirectories();
      return null;
    }
    const { hasChildren } = run;
    const complete = record.addConversation(await attempts.complete(result), "result" in decided ? decided.result : result);
    // Does not wait until the end is stored, because the task's temporary files may fill the disk.
    void releaseDirectories();
    return await storeEnd(task, complete, { store, eventLog, hasChildren, createFailure, onUnexpected: logUnexpected });
  }

  async function releaseDirectories(): Promise<void> {
    await runtimeEnded.promise;
    await workspaces.release(task).catch(logUnexpected);
    released.resolve();
  }

  function logUnexpected(err: unknown): void {
    const { taskId, tenant } = task;
    logger.error(
      { err, taskId, tenant, provider: attempts.current().provider, ...traceFields(traceparent) },
      "unexpected error in a task run",
    );
  }

  const run: Run = {
    ...{ task, traceparent, hasChildren: false, isToolOpen, onEvent, stop: outcome.stop },
    setChildSpent: (...spent) => attempts.current().meter.setChild(...spent),
    get provider() {
      return attempts.current().provider;
    },
    get holdsModelCalls() {
      return attempts.current().adapter?.capabilities().holdsModelCalls === true;
    },
    ...{ remainingMs: clocks.remainingMs, touch: clocks.touch, pauseClocks: clocks.pause },
    get isOver() {
      return outcome.isDecided();
    },
    get overSignal() {
      return outcome.signal();
    },
    ended: runToEnd(),
    runtimeEnded: runtimeEnded.promise,
    released: released.promise,
  };
  return run;
}
