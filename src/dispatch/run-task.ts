import { withTimeout } from "@hak2i/async-kit";
import type { AdapterEvent, Conversation, ExecutionAdapter, ExecutionRequest, ExecutionResult, TaskErrorCode } from "#contract";
import { createConversation, executionResultSchema } from "#contract";
import { buildCallback } from "../callbacks/callback-body.ts";
import { callbackId } from "../callbacks/callback-id.ts";
import { BridgeError } from "../errors.ts";
import { encodeEventData } from "../events/encode-event-data.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import { decodeFile } from "../requests/dispatch-files.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import type { Finish, NewCallback, Store } from "../store/store.ts";
import type { DispatchedFile, FinalState, Task } from "../task.ts";
import { readAgentFile, readPromptFiles } from "../workspaces/prompt-files.ts";
import type { Workspaces } from "../workspaces/workspace.ts";
import { writeWorkspaceFile } from "../workspaces/write-workspace-file.ts";
import { assembleRequest } from "./assemble-request.ts";
import { type KeptResult, keepLongTexts } from "./keep-long-texts.ts";
import { applyOutputStrategy, awaitsTools } from "./output-strategy.ts";
import { createTaskClocks } from "./task-clocks.ts";

/** Why a task is stopped before its runtime has answered. */
export type StopCode = Extract<TaskErrorCode, "timeout" | "idle_timeout" | "cancelled" | "adapter_offline" | "bridge_shutdown">;

/** What the story of a task needs of the house. */
export interface RunSurroundings {
  store: Store;
  eventLog: EventLog;
  workspaces: Workspaces;
  metrics: Metrics;
  adapter: ExecutionAdapter;
  schemas: Pick<SchemaChecker, "findObject">;
  /** Seconds without an event after which a streaming runtime counts as hung; 0 is never. */
  idleSeconds: number;
  /** How long a stopped runtime may take to be gone before the task ends without it. */
  stopGraceMs: number;
  onBug(error: unknown, task: Task): void;
}

/** A task under way. */
export interface Run {
  readonly task: Task;
  /** Milliseconds of wall time that are left. */
  remainingMs(): number;
  /** Its outcome has been named: nothing new may be begun on its behalf. */
  readonly isOver: boolean;
  onEvent(event: AdapterEvent): void;
  /** Something happened on the task's behalf: the idle clock starts anew. */
  touch(): void;
  /** Stops the task's clocks, because somebody else is waited for, until the answer is called. */
  hold(): () => void;
  /** Aborted when the outcome is named; its reason says that in words. */
  readonly overSignal: AbortSignal;
  /** Names the outcome; false when there is one already. */
  stop(code: StopCode, reason: string): boolean;
  /** The task as it ended; null when it went back to the queue. */
  readonly ended: Promise<Task | null>;
  /** The runtime is really gone: the slot is free. */
  readonly gone: Promise<void>;
  /** Nothing of the task is left on this machine outside of the store, its workspace and its home. Never rejects. */
  readonly released: Promise<void>;
}

type Outcome = { result: ExecutionResult } | { stop: StopCode; reason: string };

/** Runs one task from its start to its end. The first of result, timeout, cancel and shutdown names the outcome. */
export function runTask(task: Task, surroundings: RunSurroundings): Run {
  const { store, eventLog, workspaces, metrics, adapter } = surroundings;
  const { provider } = task;
  const startedAt = performance.now();
  let outcome: Outcome | undefined;
  let request: ExecutionRequest | undefined;
  let conversation: Conversation | undefined;
  const clocks = createTaskClocks({
    onTimeout: (seconds) => stop("timeout", `The task took longer than ${seconds} s.`),
    onIdle: (seconds) => stop("idle_timeout", `The runtime gave no sign of life for ${seconds} s.`),
  });
  const over = new AbortController();
  const stopped = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();

  function stop(code: StopCode, reason: string): boolean {
    if (outcome !== undefined) return false;
    outcome = { stop: code, reason };
    over.abort(reason);
    stopped.resolve();
    return true;
  }

  function onEvent(event: AdapterEvent): void {
    if (outcome !== undefined) {
      metrics.eventsDropped.inc({ provider, reason: "late" });
      return;
    }
    clocks.touch();
    conversation?.add(event);
    eventLog.append(task, event);
  }

  async function tell(): Promise<Task | null> {
    const execution = start();
    const first = await Promise.race([execution, stopped.promise]);
    clocks.close();
    if (first !== undefined) outcome ??= { result: first };
    over.abort("The task has ended.");
    const final = outcome as Outcome;
    // A stop named the outcome: what the runtime still says is counted, never delivered.
    const partial = "stop" in final ? await stopRuntime(execution) : undefined;
    return finish("stop" in final ? stoppedResult(final.stop, final.reason, partial) : await settledResult(final.result), final);
  }

  /** Assembles the request and lets the adapter work; never rejects. `gone` follows the adapter, whatever names the outcome. */
  async function start(): Promise<ExecutionResult> {
    try {
      if (task.request.files !== undefined) await writeFiles(task.request.files);
      const directories = workspaces.prepare(task, task.request.metadata?.["cwd"] as string | undefined);
      const { workspace } = directories;
      request = assembleRequest(task, { promptFiles: readPromptFiles(workspace), agent: readAgentFile(workspace), directories });
    } catch (error) {
      gone.resolve();
      return failure("adapter_error", describeFault(error));
    }
    if (outcome !== undefined) {
      // Stopped while the files were written.
      gone.resolve();
      return failure("cancelled", "The task was stopped before its runtime started.");
    }
    conversation = createConversation(request.message);
    const { timeoutSeconds } = request;
    clocks.start({ timeoutSeconds, idleSeconds: 0 });
    try {
      if (adapter.capabilities().streaming) clocks.start({ timeoutSeconds, idleSeconds: surroundings.idleSeconds });
      const result = executionResultSchema.safeParse(await adapter.execute(request));
      if (result.success) return withRoundNumbers(result.data as ExecutionResult);
      const fault = result.error.issues[0];
      return failure("adapter_error", `The adapter's result is not valid: ${fault?.path.join(".")}: ${fault?.message}`);
    } catch (error) {
      surroundings.onBug(error, task);
      return failure("adapter_error", "The adapter failed unexpectedly; Bridge's log has the details.");
    } finally {
      gone.resolve();
    }
  }

  /** Again after a restart: each file is replaced as a whole, so a task that starts anew finds all of them as they came. */
  async function writeFiles(files: readonly DispatchedFile[]): Promise<void> {
    const workspace = workspaces.makeWorkspace(task);
    for (const file of files) {
      if (outcome !== undefined) return;
      await writeWorkspaceFile(workspace, file.path.split("/"), decodeFile(file));
    }
  }

  /** Waits until the runtime is gone, so that an ended task has really ended, but not for ever. */
  async function stopRuntime(execution: Promise<ExecutionResult>): Promise<ExecutionResult | undefined> {
    if (request !== undefined) void cancelRuntime(request.taskId);
    const partial = await withTimeout(execution, surroundings.stopGraceMs, () => undefined);
    if (partial === undefined || partial.status === "ok") void execution.then(() => metrics.lateResults.inc({ provider }));
    return partial;
  }

  /** An adapter from outside may throw where it should reject, and answer nothing where it should promise. */
  async function cancelRuntime(handle: string): Promise<void> {
    try {
      await adapter.cancel(handle);
    } catch (error) {
      surroundings.onBug(error, task);
    }
  }

  async function settledResult(result: ExecutionResult): Promise<ExecutionResult> {
    const workspace = request?.directories.workspace;
    try {
      if (result.status === "ok" && awaitsTools(result, request?.tools)) return result;
      if (result.status === "ok" && workspace !== undefined) {
        const source = { tenant: task.tenant, workspace, schemas: surroundings.schemas };
        return await applyOutputStrategy(task.request.outputStrategy, result, source);
      }
    } catch (error) {
      return failure("output_invalid", describeFault(error));
    }
    return result.status === "error" && result.errorCode === undefined ? { ...result, errorCode: "adapter_error" } : result;
  }

  function stoppedResult(code: StopCode, reason: string, partial: ExecutionResult | undefined): ExecutionResult {
    const { usage, costUsd, model, resumeToken, conversationMessages, connection } = partial ?? {};
    const output = partial?.status === "error" ? partial.output : undefined;
    const known = { output, usage, costUsd, model, resumeToken, conversationMessages, connection };
    return {
      ...failure(code, reason),
      ...(Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as Partial<ExecutionResult>),
    };
  }

  function failure(errorCode: TaskErrorCode, error: string): ExecutionResult {
    return { status: "error", durationMs: Math.round(performance.now() - startedAt), errorCode, error, connection: "in-process" };
  }

  async function finish(result: ExecutionResult, final: Outcome): Promise<Task | null> {
    const interrupted = "stop" in final && final.stop === "bridge_shutdown";
    // What the log holds back goes into the queue of the store before the end does.
    void eventLog.settle(task);
    if (interrupted && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task))) return null;
    conversation?.addAnswer(answerOf(task, "result" in final ? final.result : result, result));
    const messages = result.conversationMessages ?? conversation?.messages();
    const stored = messages === undefined ? result : { ...result, conversationMessages: messages };
    // Not after the end is stored: the task's own files may be what fills the disk.
    void gone.promise
      .then(() => workspaces.release(task))
      .catch((error: unknown) => surroundings.onBug(error, task))
      .then(released.resolve);
    return await end(stored);
  }

  /** Ends the task also when its result cannot be stored: a live object that is no JSON, a text that no database holds. */
  async function end(result: ExecutionResult): Promise<Task | null> {
    try {
      const keeping = keepLongTexts({ store, eventLog }, task, result);
      const kept = keeping === null ? null : await keeping;
      return await store.finishTaskIfRunning(task, describeEnd(task, result, kept));
    } catch (error) {
      if (error instanceof BridgeError) throw error;
      surroundings.onBug(error, task);
      return store.finishTaskIfRunning(task, describeEnd(task, failure("adapter_error", "The adapter's result cannot be stored.")));
    }
  }

  return {
    task,
    get isOver() {
      return outcome !== undefined;
    },
    remainingMs: clocks.remainingMs,
    onEvent,
    touch: clocks.touch,
    hold: clocks.hold,
    overSignal: over.signal,
    stop,
    // A turn later, so that the caller knows the run before its first event.
    ended: Promise.resolve().then(tell),
    gone: gone.promise,
    released: released.promise,
  };
}

/** Without the digits that come from adding up fractions in binary, such as those of 0.010000000000000002. */
function withRoundNumbers({ durationMs, costUsd, ...result }: ExecutionResult): ExecutionResult {
  return { ...result, durationMs: Math.round(durationMs), ...(costUsd !== undefined && { costUsd: Number(costUsd.toPrecision(12)) }) };
}

/** The assistant's own words: its text, not the file that a dispatch asked for; an object that a runtime reports apart from its text, as JSON. */
function answerOf({ request }: Task, given: ExecutionResult, settled: ExecutionResult): string {
  const isApart = request.outputStrategy.type === "structured" && given.outputs !== undefined;
  return (isApart ? settled.output : given.output) ?? "";
}

/** What went wrong in a workspace, without the paths that system errors carry. */
function describeFault(error: unknown): string {
  if (error instanceof Error && "syscall" in error && "code" in error) return `The workspace cannot be used (${String(error.code)}).`;
  return error instanceof Error ? error.message : String(error);
}

/** Everything that is written when a task ends: state, terminal event, callback. Long texts of the result are already stored. */
export function describeEnd(task: Task, result: ExecutionResult, kept: KeptResult | null = null): Finish {
  const { status, output, outputs, usage, costUsd, model, durationMs, errorCode, error } = result;
  const state: FinalState = status === "ok" ? "completed" : errorCode === "cancelled" ? "cancelled" : "failed";
  const event =
    status === "ok"
      ? ({
          type: "execution.completed",
          data: encodeEventData({ output: output ?? null, outputs, usage, costUsd, model, durationMs }),
        } as const)
      : ({
          type: "execution.failed",
          data: encodeEventData({ error: error ?? "The task failed.", errorCode, usage, costUsd, durationMs }),
        } as const);
  const callback = (finishedAt: number): NewCallback => {
    const built = { ...buildCallback(task, kept?.marked ?? result, finishedAt), messageId: callbackId(task) };
    if (kept === null) return built;
    const { json, gaps } = kept.cut(built.body);
    return { ...built, body: json, gaps };
  };
  return {
    state,
    result,
    ...(kept !== null && { storedResult: kept.cut(JSON.stringify(kept.marked)) }),
    event,
    callback: task.request.callbackUrl === undefined ? null : callback,
  };
}
