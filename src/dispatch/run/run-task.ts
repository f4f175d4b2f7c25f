import type { Logger } from "pino";
import type { AdapterEvent, ExecutionResult, TaskErrorCode } from "#contract";
import type { Metrics } from "../../metrics.ts";
import type { SchemaChecker } from "../../requests/schema-checker.ts";
import type { Store } from "../../store/store.ts";
import type { StopCode, Task, TaskIdentity } from "../../task.ts";
import { type TracedTask, traceFields } from "../../trace-context.ts";
import type { Slot } from "../scheduler/held-slots.ts";
import { type AttemptOptions, createAttemptRuns } from "./attempt-runs.ts";
import { toFinalResult } from "./final-result.ts";
import { createOutcome, type Outcome } from "./outcome.ts";
import { createRunRecord } from "./run-record.ts";
import { createRunTree, type RunTreeOptions } from "./run-tree.ts";
import { stopRuntime, toStoppedResult } from "./stop-runtime.ts";
import { storeEnd } from "./store-end.ts";
import { createTaskClocks, type TaskClocks } from "./task-clocks.ts";
import type { TaskMeter } from "./task-meter.ts";
import type { TreeEnds } from "./tree-ends.ts";

/** The parts that a run uses, and its limits. */
export interface RunOptions extends AttemptOptions, RunTreeOptions {
  store: Store;
  trees: TreeEnds;
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
  /** Whether a maximum stops the current attempt at its next model call, so that it keeps the answer of the last one. */
  readonly stopsAtNextCall: boolean;
  /** The trace context that the task passes on; null if the task belongs to no trace. */
  readonly traceparent: string | null;
  /** Whether the task may have child tasks. Only a running task starts some. */
  hasChildren: boolean;
  /** Whether the outcome is decided. Nothing new may start on behalf of the task then. */
  readonly isOver: boolean;
  /** Aborted when the outcome is decided; its reason is a message. */
  readonly overSignal: AbortSignal;
  /** The ended task, or null if it is queued again. */
  readonly ended: Promise<Task | null>;
  /** Resolves when the runtime has ended, which frees the slot. */
  readonly runtimeEnded: Promise<void>;
  /** Resolves when the runtime has ended and the TMPDIR is removed. Never rejects. */
  readonly released: Promise<void>;
  /** Whether the task, or one of its descendants, has an open tool call. */
  isToolOpen(): boolean;
  /** The work tree in which the task runs; null if it runs in the workspace of its agent. */
  tree(): string | null;
  onEvent(event: AdapterEvent): void;
  /** Resolves when all usage that was reported so far has a price. */
  usagePriced: TaskMeter["priced"];
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
  const tree = createRunTree(task, options, { outcome, record, clocks });
  const parts = {
    ...{ slot, tree },
    ...{ outcome, record, clocks, traceparent, createFailure },
    onUnexpected: logUnexpected,
    noteChildren() {
      run.hasChildren = true;
    },
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
    // Children can work in the tree, so they end before its changes are stored.
    if (run.hasChildren && tree.directory() !== null) await options.endChildren(task);
    const closing = attempts.current().meter.close();
    if (closing !== undefined) await closing;
    // Budgets count the spending before the task ends, because its result may lack the total.
    const counting = options.whenCounted(task);
    if (counting !== undefined) await counting;
    // Hands the buffered events to the store, so that it writes them before the end of the task.
    void eventLog.flush(task);
    const isInterrupted = "stop" in decided && INTERRUPTIONS.has(decided.stop);
    if (isInterrupted && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task))) return null;
    if ("result" in decided && result.errorCode === "rate_limited" && (await attempts.postpone(result))) {
      void releaseDirectories();
      return null;
    }
    const { hasChildren } = run;
    const complete = record.addConversation(await attempts.complete(result), "result" in decided ? decided.result : result);
    // Does not wait until the end is stored, because the task's temporary files may fill the disk.
    void releaseDirectories();
    const usedNoModel = attempts.usedNoModel();
    const changed = task.request.repository === undefined ? complete : await options.trees.end(task, complete);
    return await storeEnd(task, changed, { store, eventLog, hasChildren, usedNoModel, createFailure, onUnexpected: logUnexpected });
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
    ...{ task, traceparent, hasChildren: false, isToolOpen, tree: tree.directory, onEvent, stop: outcome.stop },
    setChildSpent: (...spent) => attempts.current().meter.setChild(...spent),
    get provider() {
      return attempts.current().provider;
    },
    get stopsAtNextCall() {
      const { holdsModelCalls = false, callsModels = false } = attempts.current().adapter?.capabilities() ?? {};
      return holdsModelCalls && !callsModels;
    },
    usagePriced: () => attempts.current().meter.priced(),
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
