import type { Logger } from "pino";
import { type AdapterEvent, type ExecutionAdapter, type ExecutionResult, executionResultSchema, type TaskErrorCode } from "#contract";
import type { Metrics } from "../../metrics.ts";
import type { SchemaChecker } from "../../requests/schema-checker.ts";
import type { StopCode, Task, TaskIdentity } from "../../task.ts";
import { type TracedTask, traceFields } from "../../trace-context.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import { describeFault, toFinalResult, withRoundNumbers } from "./final-result.ts";
import { createOutcome, type Outcome } from "./outcome.ts";
import { type PreparedRun, prepareRun } from "./prepare-run.ts";
import { createRunMeter, type MeterParts } from "./run-meter.ts";
import { createRunRecord } from "./run-record.ts";
import { readSpent } from "./spent.ts";
import { stopRuntime, toStoppedResult } from "./stop-runtime.ts";
import { storeEnd } from "./store-end.ts";
import { createTaskClocks, type TaskClocks } from "./task-clocks.ts";
import type { TaskMeter } from "./task-meter.ts";

/** The parts that a run uses, and its limits. */
export interface RunOptions extends MeterParts {
  workspaces: Workspaces;
  metrics: Metrics;
  logger: Logger;
  schemas: SchemaChecker;
  /** Seconds without an event and without an open tool call after which a streaming runtime counts as hung; 0 disables the check. */
  idleSeconds: number;
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

/** Runs one task on its adapter, and stores its end. */
export function runTask(task: Task, adapter: ExecutionAdapter, options: RunOptions): Run {
  const { store, eventLog, workspaces, metrics, logger, schemas } = options;
  const { provider } = task;
  const traceparent = options.runTraceparent(task);
  const startedAt = performance.now();
  const outcome = createOutcome();
  const record = createRunRecord(task, eventLog);
  const meter = createRunMeter(task, options, logUnexpected);
  let prepared: PreparedRun | null = null;
  const isToolOpen = (): boolean => record.hasOpenCall() || options.isChildToolOpen(task);
  const clocks = createTaskClocks({
    onTimeout: (seconds) => outcome.stop("timeout", record.appendWarningTo(`The task took longer than ${seconds} s.`)),
    onIdle: (seconds) => outcome.stop("idle_timeout", record.appendWarningTo(`The runtime emitted no event for ${seconds} s.`)),
    isToolOpen,
  });
  const runtimeEnded = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();

  async function runToEnd(): Promise<Task | null> {
    // In a later turn, so that the caller can register the run before its first event.
    await null;
    const execution = execute().finally(runtimeEnded.resolve);
    void execution.then(outcome.complete);
    const decided = await outcome.decided;
    clocks.close();
    if ("result" in decided) return finish(await toFinalResult(task, decided.result, { prepared, schemas, createFailure }), decided);
    const partial = await stopRuntime(
      { adapter, handle: prepared?.request.taskId, execution },
      { graceMs: options.stopGraceMs, onError: logUnexpected, onLateResult: () => metrics.lateResults.inc({ provider }) },
    );
    return finish(toStoppedResult(createFailure(decided.stop, decided.reason), partial), decided);
  }

  /** Prepares the workspace and calls the adapter. Never rejects. */
  async function execute(): Promise<ExecutionResult> {
    try {
      prepared = await prepareRun(task, { workspaces, traceparent, isStopped: outcome.isDecided });
      if (task.restarts > 0) meter.setEarlier(await readSpent(store, task));
    } catch (error) {
      return createFailure("adapter_error", describeFault(error));
    }
    const { request } = prepared;
    // The task may have been stopped while its files were written.
    if (outcome.isDecided()) return createFailure("cancelled", "The task was stopped before its runtime started.");
    record.beginConversation(request);
    try {
      clocks.start({ timeoutSeconds: request.timeoutSeconds, idleSeconds: adapter.capabilities().streaming ? options.idleSeconds : 0 });
      const result = executionResultSchema.safeParse(await adapter.execute(request));
      if (result.success) return withRoundNumbers(result.data as ExecutionResult);
      const fault = result.error.issues[0];
      return createFailure("adapter_error", `The adapter returned an invalid result: ${fault?.path.join(".")}: ${fault?.message}`);
    } catch (error) {
      logUnexpected(error);
      return createFailure("adapter_error", "The adapter failed unexpectedly. Bridge's log has the details.");
    }
  }

  function onEvent(event: AdapterEvent): void {
    const isLate = outcome.isDecided();
    const isUsage = event.type === "usage.reported";
    if (!isLate) clocks.touch();
    // A call of the model that is in progress when the task is stopped is reported later, and counts.
    if (isUsage ? !meter.add(event.data) : isLate) metrics.eventsDropped.inc({ provider, reason: isLate ? "late" : "invalid" });
    else if (!isUsage) record.add(event);
  }

  function createFailure(errorCode: TaskErrorCode, error: string): ExecutionResult {
    return { status: "error", durationMs: Math.round(performance.now() - startedAt), errorCode, error, connection: "in-process" };
  }

  /** Stores the end of the task, or returns it to the queue after an interruption of Bridge if the dispatch allows a retry. */
  async function finish(result: ExecutionResult, decided: Outcome): Promise<Task | null> {
    record.endOpenCalls(result, prepared?.request.tools);
    await meter.close();
    // Hands the buffered events to the store, so that it writes them before the end of the task.
    void eventLog.flush(task);
    const isInterrupted = "stop" in decided && INTERRUPTIONS.has(decided.stop);
    if (isInterrupted && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task))) return null;
    const { hasChildren } = run;
    const spent = await meter.complete(result, { hasChildren });
    const complete = record.addConversation(spent, "result" in decided ? decided.result : result);
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
    logger.error({ err, taskId, tenant, provider, ...traceFields(traceparent) }, "unexpected error in a task run");
  }

  const run: Run = {
    ...{ task, traceparent, hasChildren: false, isToolOpen, onEvent, setChildSpent: meter.setChild, stop: outcome.stop },
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
