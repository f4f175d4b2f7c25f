import { type ExecutionAdapter, type ExecutionResult, executionResultSchema, type TaskErrorCode } from "#contract";
import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import type { Task } from "../../task.ts";
import { hasChanged, markTime } from "../../workspaces/has-changed.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import type { Candidate } from "../admission/list-candidates.ts";
import type { AttemptEnd } from "./attempts.ts";
import { type CreateFailure, describeFault, withRoundNumbers } from "./final-result.ts";
import { mayReplace } from "./may-replace.ts";
import type { createOutcome } from "./outcome.ts";
import { type PreparedRun, prepareRun } from "./prepare-run.ts";
import { createRunMeter, type MeterParts } from "./run-meter.ts";
import type { createRunRecord } from "./run-record.ts";
import type { RunTree } from "./run-tree.ts";
import type { TaskClocks } from "./task-clocks.ts";
import type { TaskMeter } from "./task-meter.ts";

/** The parts that call an adapter. */
export interface AttemptRunOptions extends MeterParts {
  adapters: Pick<AvailableAdapters, "findOnline" | "describeOffline">;
  workspaces: Workspaces;
  /** Seconds without an event and without an open tool call after which a streaming runtime counts as hung; 0 disables the check. */
  idleSeconds: number;
}

/** What all attempts of a task share. */
export interface RunParts {
  outcome: ReturnType<typeof createOutcome>;
  record: ReturnType<typeof createRunRecord>;
  clocks: TaskClocks;
  traceparent: string | null;
  createFailure: CreateFailure;
  onUnexpected(error: unknown): void;
  /** Call it if an earlier run of the task had children. */
  noteChildren(): void;
  tree: RunTree;
}

/** Which attempt it is. */
interface AttemptKind extends Candidate {
  /** Whether the candidate is the adapter that the dispatch, or agent.json, names. Only it uses the model of agent.json. */
  isDispatched: boolean;
  /** Whether another attempt may follow. */
  mayBeFollowed: boolean;
}

/** One attempt of a running task on one adapter. */
export interface AttemptRun {
  readonly provider: string;
  /** Null if it is offline. */
  readonly adapter: ExecutionAdapter | null;
  readonly meter: TaskMeter;
  /** What the runtime was given; null if it was not started. */
  prepared(): PreparedRun | null;
  /** Prepares the workspace and calls the adapter. Never rejects. */
  execute(): Promise<ExecutionResult>;
  /** Whether another attempt may follow this failure: nothing that this attempt did may happen twice. */
  mayBeReplaced(errorCode: TaskErrorCode): Promise<boolean>;
  /** Describes how the attempt has ended. Call it after the meter has completed the result. */
  toEnd(result: ExecutionResult): AttemptEnd;
}

/** Creates an attempt of a task. */
export function createAttemptRun(task: Task, kind: AttemptKind, options: AttemptRunOptions, run: RunParts): AttemptRun {
  const { provider, model, isDispatched } = kind;
  const { outcome, record, clocks, createFailure } = run;
  const attempted = provider === task.provider && model === (task.request.model ?? null) ? task : toAttempted(task, kind);
  const adapter = options.adapters.findOnline(provider);
  const meter = createRunMeter(attempted, options, run.onUnexpected);
  let prepared: PreparedRun | null = null;
  /** When the runtime was started, in ms since the epoch; null before. */
  let startedAt: number | null = null;
  /** The same time by the clock of the workspace, if it can matter. */
  let changesSince = 0;

  /** Whether the runtime can change nothing. */
  const isReadOnly = (): boolean => task.request.profile === "inspect" && adapter?.capabilities().sandboxing === true;

  async function execute(): Promise<ExecutionResult> {
    if (adapter === null) return createFailure("adapter_offline", options.adapters.describeOffline(provider));
    try {
      const { workspaces } = options;
      const parts = { workspaces, traceparent: run.traceparent, isStopped: outcome.isDecided, usesAgentModel: isDispatched };
      const ready = await prepareRun(attempted, { ...parts, openTree: run.tree.open });
      if (kind.mayBeFollowed && !isReadOnly()) changesSince = await markTime(ready.request.directories.workspace);
      prepared = ready;
    } catch (error) {
      return createFailure("adapter_error", describeFault(error));
    }
    const { request } = prepared;
    // The task may have been stopped while its files were written.
    if (outcome.isDecided()) return createFailure("cancelled", "The task was stopped before its runtime started.");
    record.beginConversation(request);
    startedAt = Date.now();
    try {
      clocks.start({ timeoutSeconds: request.timeoutSeconds, idleSeconds: adapter.capabilities().streaming ? options.idleSeconds : 0 });
      const result = executionResultSchema.safeParse(await adapter.execute(request));
      // Bridge itself reports what the task has changed in its repository.
      if (result.success) return withRoundNumbers(omitRepository(result.data as ExecutionResult));
      const fault = result.error.issues[0];
      return createFailure("adapter_error", `The adapter returned an invalid result: ${fault?.path.join(".")}: ${fault?.message}`);
    } catch (error) {
      run.onUnexpected(error);
      return createFailure("adapter_error", "The adapter failed unexpectedly. Bridge's log has the details.");
    }
  }

  return {
    ...{ provider, adapter, meter, execute },
    prepared: () => prepared,
    async mayBeReplaced(errorCode) {
      const { sandboxing = false, reportsTools = false } = adapter?.capabilities() ?? {};
      const facts = {
        errorCode,
        profile: task.request.profile,
        isEnforced: sandboxing,
        reportsTools,
        hasCalledTool: record.hasCalledTool(),
        hasNewTree: hasNewTree(task),
      };
      if (!mayReplace({ ...facts, hasChangedFiles: false })) return false;
      if (mayReplace({ ...facts, hasChangedFiles: true })) return true;
      return prepared !== null && !(await hasChanged(prepared.request.directories.workspace, changesSince));
    },
    toEnd({ errorCode, error }) {
      const { usage, costUsd } = meter.completedSpent();
      const at = startedAt === null ? null : new Date(startedAt).toISOString();
      return { startedAt: at, errorCode: errorCode ?? null, reason: error ?? null, usage, costUsd };
    },
  };
}

/**
 * Whether the next attempt gets a new work tree, so that nothing remains of what the failed one did in its tree. An interrupted task keeps
 * what its earlier run did. An MCP server can change what is outside of the tree.
 */
const hasNewTree = ({ restarts, request: { repository, mcpServers = [] } }: Task): boolean =>
  repository !== undefined && restarts === 0 && mcpServers.length === 0;

const omitRepository = ({ repository: _, ...result }: ExecutionResult): ExecutionResult => result;

/** The task as the adapter of another candidate receives it. */
function toAttempted(task: Task, { provider, model }: Candidate): Task {
  const { model: _, ...others } = task.request;
  return { ...task, provider, request: { ...others, ...(model !== null && { model }) } };
}
