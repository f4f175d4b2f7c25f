import type { Logger } from "pino";
import type { AdapterEvent, Conversation, ExecutionAdapter, ExecutionRequest, ExecutionResult, TaskErrorCode } from "#contract";
import { createConversation, executionResultSchema } from "#contract";
import { BridgeError } from "../errors.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import { decodeFile } from "../requests/dispatch-files.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import { buildFinish } from "../results/build-finish.ts";
import { applyOutputStrategy, awaitsTools, type FileState, stateOfOutputFile } from "../results/output-strategy.ts";
import { storeLongTexts } from "../results/store-long-texts.ts";
import type { Store } from "../store/store.ts";
import type { DispatchedFile, StopCode, Task, TaskIdentity } from "../task.ts";
import { type TracedTask, traceFields } from "../trace-context.ts";
import { readAgentFile, readPromptFiles } from "../workspaces/prompt-files.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import { writeWorkspaceFile } from "../workspaces/write-workspace-file.ts";
import { buildExecutionRequest } from "./build-execution-request.ts";
import { createLastWarning } from "./last-warning.ts";
import { createOpenCalls } from "./open-calls.ts";
import { stopRuntime, toStoppedResult } from "./stop-runtime.ts";
import { createTaskClocks } from "./task-clocks.ts";

/** The parts that a run uses, and its limits. */
export interface RunOptions {
  store: Store;
  eventLog: EventLog;
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

/** The first of result, timeout, cancellation and shutdown. It decides how the task ends. */
type Outcome = { result: ExecutionResult } | { stop: StopCode; reason: string };

/** Stops for which the task is not responsible. */
const INTERRUPTIONS: ReadonlySet<StopCode> = new Set(["bridge_restarted", "bridge_shutdown"]);

/** A task that runs. */
export type Run = ReturnType<typeof runTask>;

/** Runs one task on its adapter, and stores its end. */
export function runTask(task: Task, adapter: ExecutionAdapter, options: RunOptions) {
  const { store, eventLog, workspaces, metrics, logger } = options;
  const { provider } = task;
  const traceparent = options.runTraceparent(task);
  const startedAt = performance.now();
  let outcome: Outcome | undefined;
  let request: ExecutionRequest | undefined;
  let conversation: Conversation | undefined;
  const openCalls = createOpenCalls(task.taskId);
  const lastWarning = createLastWarning();
  /** The file of the output strategy before the runtime starts. */
  let outputFile: FileState = null;
  const isToolOpen = (): boolean => openCalls.hasAny() || options.isChildToolOpen(task);
  const clocks = createTaskClocks({
    onTimeout: (seconds) => stop("timeout", lastWarning.appendTo(`The task took longer than ${seconds} s.`)),
    onIdle: (seconds) => stop("idle_timeout", lastWarning.appendTo(`The runtime emitted no event for ${seconds} s.`)),
    isToolOpen,
  });
  /** Resolves to the result of the runtime, or to undefined when the task is stopped first. */
  const first = Promise.withResolvers<ExecutionResult | undefined>();
  /** Created when the adapter first requests an approval, because most tasks request none. */
  let outcomeController: AbortController | undefined;
  const runtimeEnded = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();

  async function runToEnd(): Promise<Task | null> {
    // In a later turn, so that the caller can register the run before its first event.
    await null;
    const execution = execute();
    void execution.then(first.resolve);
    const result = await first.promise;
    clocks.close();
    if (result !== undefined) outcome ??= { result };
    outcomeController?.abort("The task has ended.");
    const decided = outcome as Outcome;
    if ("result" in decided) return finish(await toFinalResult(decided.result), decided);
    const partial = await stopRuntime(
      { adapter, handle: request?.taskId, execution },
      { graceMs: options.stopGraceMs, onError: logUnexpected, onLateResult: () => metrics.lateResults.inc({ provider }) },
    );
    return finish(toStoppedResult(failure(decided.stop, decided.reason), partial), decided);
  }

  /** Prepares the workspace and calls the adapter. Never rejects. */
  async function execute(): Promise<ExecutionResult> {
    try {
      if (task.request.files !== undefined) await writeFiles(task.request.files);
      const directories = workspaces.prepare(task, task.request.metadata?.["cwd"] as string | undefined);
      const { workspace } = directories;
      // If the task runs again, its earlier run may have written the file, so that a file that this run does not change is accepted.
      outputFile = task.restarts > 0 ? null : stateOfOutputFile(task.request.outputStrategy, workspace);
      request = buildExecutionRequest(task, {
        promptFiles: readPromptFiles(workspace),
        agent: readAgentFile(workspace),
        directories,
        traceparent,
      });
    } catch (error) {
      runtimeEnded.resolve();
      return failure("adapter_error", describeFault(error));
    }
    if (outcome !== undefined) {
      // The task was stopped while its files were written.
      runtimeEnded.resolve();
      return failure("cancelled", "The task was stopped before its runtime started.");
    }
    conversation = createConversation(request.message);
    try {
      const idleSeconds = adapter.capabilities().streaming ? options.idleSeconds : 0;
      clocks.start({ timeoutSeconds: request.timeoutSeconds, idleSeconds });
      const result = executionResultSchema.safeParse(await adapter.execute(request));
      if (result.success) return withRoundNumbers(result.data as ExecutionResult);
      const fault = result.error.issues[0];
      return failure("adapter_error", `The adapter returned an invalid result: ${fault?.path.join(".")}: ${fault?.message}`);
    } catch (error) {
      logUnexpected(error);
      return failure("adapter_error", "The adapter failed unexpectedly. Bridge's log has the details.");
    } finally {
      runtimeEnded.resolve();
    }
  }

  /** Replaces each file as a whole, so a task that runs again after a restart finds them unchanged. */
  async function writeFiles(files: readonly DispatchedFile[]): Promise<void> {
    const workspace = workspaces.makeWorkspace(task);
    for (const file of files) {
      if (outcome !== undefined) return;
      await writeWorkspaceFile(workspace, file.path.split("/"), decodeFile(file));
    }
  }

  function onEvent(event: AdapterEvent): void {
    if (outcome !== undefined) {
      metrics.eventsDropped.inc({ provider, reason: "late" });
      return;
    }
    clocks.touch();
    openCalls.add(event);
    lastWarning.add(event);
    record(event);
  }

  function record(event: AdapterEvent): void {
    conversation?.add(event);
    eventLog.append(task, event);
  }

  /** Ends every open call, except those of declared tools, which the caller executes after the task. */
  function endOpenCalls(result: ExecutionResult): void {
    const isAwaiting = result.status === "ok" && awaitsTools(result, request?.tools);
    const waiting = (isAwaiting ? result.outputs?.["toolCalls"] : []) as { toolCallId: string }[];
    for (const event of openCalls.end((id) => waiting.some(({ toolCallId }) => toolCallId === id))) record(event);
  }

  function stop(code: StopCode, reason: string): boolean {
    if (outcome !== undefined) return false;
    outcome = { stop: code, reason };
    outcomeController?.abort(reason);
    first.resolve(undefined);
    return true;
  }

  /** Gives a result the form that the dispatch asks for. */
  async function toFinalResult(result: ExecutionResult): Promise<ExecutionResult> {
    const workspace = request?.directories.workspace;
    try {
      if (result.status === "ok" && awaitsTools(result, request?.tools)) return result;
      if (result.status === "ok" && workspace !== undefined) {
        const source = { tenant: task.tenant, workspace, schemas: options.schemas, fileBefore: outputFile };
        return await applyOutputStrategy(task.request.outputStrategy, result, source);
      }
    } catch (error) {
      return failure("output_invalid", describeFault(error));
    }
    return result.status === "error" && result.errorCode === undefined ? { ...result, errorCode: "adapter_error" } : result;
  }

  function failure(errorCode: TaskErrorCode, error: string): ExecutionResult {
    return { status: "error", durationMs: Math.round(performance.now() - startedAt), errorCode, error, connection: "in-process" };
  }

  /** Stores the end of the task, or returns it to the queue after an interruption of Bridge if the dispatch allows a retry. */
  async function finish(result: ExecutionResult, decided: Outcome): Promise<Task | null> {
    const interrupted = "stop" in decided && INTERRUPTIONS.has(decided.stop);
    endOpenCalls(result);
    // Hands the buffered events to the store, so that it writes them before the end of the task.
    void eventLog.settle(task);
    if (interrupted && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task))) return null;
    conversation?.addAnswer(answerOf(task, "result" in decided ? decided.result : result, result));
    const messages = result.conversationMessages ?? conversation?.messages();
    const stored = messages === undefined ? result : { ...result, conversationMessages: messages };
    // Does not wait until the end is stored, because the task's temporary files may fill the disk.
    void releaseDirectories();
    return await storeEnd(stored);
  }

  async function releaseDirectories(): Promise<void> {
    await runtimeEnded.promise;
    try {
      await workspaces.release(task);
    } catch (error) {
      logUnexpected(error);
    }
    released.resolve();
  }

  /** Ends the task even if its result cannot be stored, for example because it is cyclic or contains text that the database rejects. */
  async function storeEnd(result: ExecutionResult): Promise<Task | null> {
    try {
      const marking = storeLongTexts({ store, eventLog }, task, result);
      const marked = marking === null ? null : await marking;
      const { hasChildren } = run;
      return await store.finishTaskIfRunning(task, { ...buildFinish(task, result, marked), hasChildren });
    } catch (error) {
      if (error instanceof BridgeError) throw error;
      logUnexpected(error);
      return store.finishTaskIfRunning(task, buildFinish(task, failure("adapter_error", "The adapter's result cannot be stored.")));
    }
  }

  function logUnexpected(err: unknown): void {
    logger.error(
      { err, taskId: task.taskId, tenant: task.tenant, provider, ...traceFields(traceparent) },
      "unexpected error in a task run",
    );
  }

  const run = {
    task,
    /** The trace context that the task passes on; null if the task belongs to no trace. */
    traceparent,
    /** Whether the task may have child tasks. Only a running task starts some. */
    hasChildren: false,
    /** Whether the task, or one of its descendants, has an open tool call. */
    isToolOpen,
    /** Whether the outcome is decided. Nothing new may start on behalf of the task then. */
    get isOver(): boolean {
      return outcome !== undefined;
    },
    /** Aborted when the outcome is decided; its reason is a message. Read it only while the task is not over. */
    get overSignal(): AbortSignal {
      outcomeController ??= new AbortController();
      return outcomeController.signal;
    },
    onEvent,
    /** Decides the outcome; returns false if it is decided already. */
    stop,
    /** Milliseconds of the task's timeout that are left. */
    remainingMs: clocks.remainingMs,
    /** Restarts the idle clock. */
    touch: clocks.touch,
    /** Pauses the clocks until the returned function is called. */
    pauseClocks: clocks.pause,
    /** The ended task, or null if it is queued again. */
    ended: runToEnd(),
    /** Resolves when the runtime has ended, which frees the slot. */
    runtimeEnded: runtimeEnded.promise,
    /** Resolves when the runtime has ended and the TMPDIR is removed. Never rejects. */
    released: released.promise,
  };
  return run;
}

/** Removes the digits that binary fractions add, as in 0.010000000000000002. */
function withRoundNumbers({ durationMs, costUsd, ...result }: ExecutionResult): ExecutionResult {
  return { ...result, durationMs: Math.round(durationMs), ...(costUsd !== undefined && { costUsd: Number(costUsd.toPrecision(12)) }) };
}

/**
 * Returns the text of the assistant's last message, not the content of a requested file. An object that the runtime reports separately is
 * its JSON text.
 */
function answerOf({ request }: Task, reported: ExecutionResult, final: ExecutionResult): string {
  const isSeparate = request.outputStrategy.type === "structured" && reported.outputs !== undefined;
  return (isSeparate ? final.output : reported.output) ?? "";
}

/** Describes a fault of the workspace without the paths that system errors contain. */
function describeFault(error: unknown): string {
  if (error instanceof Error && "syscall" in error && "code" in error) return `The workspace cannot be used (${String(error.code)}).`;
  return error instanceof Error ? error.message : String(error);
}
