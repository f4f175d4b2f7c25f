import { createTurns, nullIfAborted } from "@hak2i/async-kit";
import type { ExecutionAdapter, ExecutionRequest, ExecutionResult, TaskErrorCode } from "#contract";
import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";
import { finishAnswer } from "../shared/agent-program/finish-answer.ts";
import { createRunningTasks } from "../shared/agent-program/running-tasks.ts";
import { createTaskTimeline } from "../shared/agent-program/task-timeline.ts";
import { runWithDeclaredTools } from "../shared/declared-tools/run-with-declared-tools.ts";
import { MAX_TEXT_BYTES } from "../shared/process/text-limit.ts";
import type { AdapterContext } from "./adapter-context.ts";
import { unsupportedReason } from "./request.ts";
import { CANCELED, runTask } from "./run-task.ts";

/** How long a task waits for a gateway that was connected before and may be restarting. */
const RECONNECT_LIMIT_MS = 30_000;

/** The part of the adapter that runs tasks. */
export interface Tasks extends Required<Pick<ExecutionAdapter, "execute" | "cancel" | "onEvent" | "offEvent">> {
  /** Whether a running or waiting task uses the session. */
  isSessionInUse(key: string): boolean;
  /** Cancels all tasks, and resolves when they have ended. */
  cancelAll(): Promise<void>;
}

/** Creates the part of the adapter that runs tasks; `currentContext` returns null while the adapter is not running. */
export function createTasks(currentContext: () => AdapterContext | null): Tasks {
  const running = createRunningTasks();
  // Only one task of a session runs at a time, so stopping a task does not stop the next one.
  const sessions = createTurns();

  const run = async (
    request: ExecutionRequest,
    { config, settings, gateway, keys, servers, openCalls, commands }: AdapterContext,
    signal: AbortSignal,
  ): Promise<ExecutionResult> => {
    const { agentId, taskId, resumeToken, directories } = request;
    const reason = unsupportedReason(request, settings);
    if (reason !== null) return failure("adapter_error", reason);
    if (resumeToken !== undefined && !keys.belongs(resumeToken, agentId, directories.home))
      return failure("adapter_error", "The resume token does not belong to a session of this agent.");
    const connectionError = await waitForConnection(gateway, signal);
    if (connectionError !== null) return failure(signal.aborted ? "cancelled" : "adapter_offline", connectionError);

    const startedAt = performance.now();
    const key = resumeToken ?? keys.create(agentId, directories.home);
    const textLimit = new AbortController();
    const timeline = createTaskTimeline(taskId, running.emit, {
      streaming: true,
      maxBytes: MAX_TEXT_BYTES,
      onTooLong: () => textLimit.abort(),
    });
    const stop = AbortSignal.any([signal, textLimit.signal]);
    const { logger, requestApproval } = config;
    try {
      const work = async (): Promise<ConnectionResult> => {
        const sweepCommands = await commands?.begin(directories.workspace);
        try {
          return await runWithDeclaredTools({ request, timeline, signal: stop }, { store: openCalls, logger }, (task) =>
            runTask({ ...task, key, gateway, settings, servers, logger, requestApproval }),
          );
        } finally {
          await sweepCommands?.();
        }
      };
      const ending = await sessions.take(key, work, signal).catch((error: unknown): ConnectionResult => {
        if (error !== signal.reason) throw error;
        return CANCELED;
      });
      const result = ending.status === "ok" ? { ...ending, output: selectCompleteText(timeline.answer, ending.output) } : ending;
      return {
        ...finishAnswer(result, { request, timeline }),
        durationMs: performance.now() - startedAt,
        connection: "http-api",
      };
    } finally {
      // No event may follow the result, even after a bug.
      timeline.close();
    }
  };

  return {
    async execute(request) {
      const context = currentContext();
      if (context === null) return failure("adapter_offline", "The openclaw adapter is not running.");
      return running.run(request.taskId, ({ signal }) => run(request, context, signal));
    },
    cancel: running.cancel,
    onEvent: running.onEvent,
    offEvent: running.offEvent,
    isSessionInUse: sessions.isTaken,
    cancelAll: running.stopAll,
  };
}

/** Waits for the gateway if it was connected before. Returns why the task cannot start; null if it can. */
async function waitForConnection(gateway: AdapterContext["gateway"], signal: AbortSignal): Promise<string | null> {
  if (gateway.failure === null) await nullIfAborted(gateway.waitForAttempt(), signal);
  const isReconnecting = gateway.hello !== null && gateway.failure?.retryable === true;
  if (isReconnecting) await gateway.waitForConnection(AbortSignal.any([signal, AbortSignal.timeout(RECONNECT_LIMIT_MS)])).catch(() => {});
  if (gateway.state === "connected") return null;
  // The failure contains addresses, so only the health report shows it.
  return signal.aborted
    ? "The task was canceled."
    : "There is no connection to the OpenClaw gateway. GET /api/v2/adapters shows the reason.";
}

/**
 * Returns the text of the final response, or the streamed text if the two differ only by surrounding whitespace: the gateway removes it
 * from the final response.
 */
const selectCompleteText = (streamed: string, final = streamed): string => (streamed.trim() === final.trim() ? streamed : final);

const failure = (errorCode: TaskErrorCode, error: string): ExecutionResult => ({
  status: "error",
  errorCode,
  error,
  durationMs: 0,
  connection: "http-api",
});
