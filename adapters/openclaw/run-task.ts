import { withTimeout } from "@hak2i/async-kit";
import { z } from "zod";
import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";
import { applyStep, type Outcome } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { createApprovalHandler } from "./approval-handler.ts";
import { createEventReader } from "./events.ts";
import { followRun } from "./follow-run.ts";
import type { Gateway } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import type { GatewayTask } from "./gateway-task.ts";
import { createEnableServersParams, createRunParams, createSessionParams } from "./request.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";
import { retryRunStart } from "./retry-run-start.ts";
import { explainError } from "./run-result.ts";

/** The request to stop is repeated, because it has no effect before the run has started. */
const STOP_INTERVAL_MS = 500;
const STOP_LIMIT_MS = 10_000;

/** Runs a task in its session to its end. Afterwards, none of its runs is active in the gateway, unless the gateway cannot be reached. */
export async function runTask(task: GatewayTask): Promise<ConnectionResult> {
  const { request, key, gateway, timeline, signal } = task;
  const runs = new Set<string>();
  const reader = createEventReader((id) => runs.has(id));
  const approvals = createApprovalHandler(task);
  let facts: Omit<Partial<ConnectionResult>, "status"> = {};
  let hasStarted = false;
  /** Aborted when the gateway announces a wait above the limit. The abort reason is the outcome. */
  const longWait = new AbortController();
  const removeListener = gateway.onEvent((event) => {
    approvals.handle(event);
    for (const step of reader.read(event)) {
      // The first event reports the model, when the model starts to answer.
      hasStarted = true;
      task.offeredTools?.noteOutput();
      if (step.kind === "facts") facts = { ...facts, ...step.facts };
      else if (step.kind === "ended") longWait.abort(step.outcome);
      else applyStep(timeline, renameDeclaredTool(step, task.offeredTools));
    }
  });

  const taskEnded = new AbortController();
  let serverNames: string[] = [];
  const work = async (): Promise<ConnectionResult> => {
    try {
      const sessionId = await retryAfterReconnect(task, () => openSession(task));
      if (sessionId === null) return UNKNOWN_SESSION;
      if (request.mcpServers !== undefined && request.mcpServers.length > 0) {
        const servers = request.mcpServers;
        serverNames = await retryAfterReconnect(task, () => task.servers.add(servers));
        if (taskEnded.signal.aborted) {
          task.servers.remove(serverNames);
          return CANCELED;
        }
        await retryAfterReconnect(task, () =>
          gateway.call("sessions.patch", { key, ...createEnableServersParams(serverNames) }, { signal }),
        );
      }
      facts.resumeToken = key;
      const start = async (runId: string): Promise<ConnectionResult> => {
        runs.add(runId);
        const params = createRunParams(request, { key, runId, sessionId });
        return await followRun({ gateway, key, params, signal, taskEnded: taskEnded.signal, runs, reader, approvals });
      };
      return await retryRunStart(signal, () => hasStarted, start);
    } catch (error) {
      if (signal.aborted) return CANCELED;
      return explainError(error, reader.failoverReason);
    }
  };
  try {
    if (signal.aborted) return CANCELED;
    const working = work();
    const stopping = stopOnAbort({ ...task, signal: AbortSignal.any([signal, longWait.signal]) }, { working, hasRun: () => runs.size > 0 });
    // With a broken connection, the local work ends at once, but the run on the gateway continues.
    const ending = await Promise.race([working.then((result) => (signal.aborted ? stopping : result)), stopping]);
    // The first outcome counts: ignore later events.
    removeListener();
    if (!signal.aborted) await stopLeftovers(task);
    // A run that has ended well does not wait any more.
    const isWaiting = longWait.signal.aborted && ending.status !== "ok";
    const outcome = signal.aborted ? CANCELED : isWaiting ? (longWait.signal.reason as Outcome) : {};
    return { ...facts, ...ending, ...outcome };
  } finally {
    removeListener();
    taskEnded.abort();
    if (serverNames.length > 0) task.servers.remove(serverNames);
  }
}

/**
 * Restores the name of a declared tool. The gateway reports its calls under a name with a temporary prefix, directly or as the input of its
 * tool `tool_call`.
 */
function renameDeclaredTool(step: TimelineStep, offeredTools: GatewayTask["offeredTools"]): TimelineStep {
  if (step.kind !== "tool.invoked" || offeredTools === undefined) return step;
  const { id } = z.object({ id: z.string() }).safeParse(step.input).data ?? {};
  const toolName = [step.toolName, ...(step.toolName === "tool_call" && id !== undefined ? [id] : [])]
    .map((name) => name.replace(SERVER_NAME_PREFIX, ""))
    .find(offeredTools.includes);
  return toolName === undefined ? step : { ...step, toolName };
}

const SERVER_NAME_PREFIX = /^(mcp:[^:]*:)?br[0-9a-f]{12}-/;

type TimelineStep = Parameters<typeof applyStep>[1];

/** The result of a stopped task. */
export const CANCELED = failure("cancelled", "The task was canceled.");

const UNKNOWN_SESSION = failure(
  "adapter_error",
  "The session of the resume token no longer exists in OpenClaw. Dispatch without resumeToken.",
);

/**
 * Opens the task's session, without active runs. Returns null if the session to resume no longer exists. A new session would not have its
 * history.
 */
async function openSession(task: GatewayTask): Promise<string | null> {
  const { gateway, key, signal, request, settings } = task;
  if (request.resumeToken !== undefined) {
    const found = await gateway.call("sessions.describe", { key }, { signal });
    if (!z.object({ session: z.object({}) }).safeParse(found).success) return null;
    // An earlier task may have left runs because the gateway was unreachable.
    await stopLeftovers(task);
  }
  const session = await gateway.call("sessions.create", createSessionParams(request, key, settings), { signal });
  return z.object({ sessionId: z.string() }).parse(session).sessionId;
}

/** Waits for the abort of the task, then stops its session repeatedly until the run has ended. Waits a limited time for a reconnect. */
async function stopOnAbort(
  { gateway, key, signal }: GatewayTask,
  { working, hasRun }: { working: Promise<unknown>; hasRun(): boolean },
): Promise<ConnectionResult> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const hasEnded = working.then(
    () => true,
    () => true,
  );
  const deadline = AbortSignal.timeout(STOP_LIMIT_MS);
  while (!deadline.aborted) {
    if (gateway.state !== "connected" && !(hasRun() && (await waitForReconnect(gateway, deadline)))) break;
    const isSent = await stopSession(gateway, key);
    if (isSent && (await withTimeout(hasEnded, STOP_INTERVAL_MS, () => false))) break;
  }
  return CANCELED;
}

const waitForReconnect = (gateway: Gateway, deadline: AbortSignal): Promise<boolean> =>
  gateway.waitForConnection(deadline).then(
    () => true,
    () => false,
  );

/**
 * Stops all work of a session, including queued runs and sub-agents. Returns false if the connection was lost in the meantime. Runs that
 * cannot be reached are stopped after a reconnect.
 */
export async function stopSession(gateway: Gateway, key: string): Promise<boolean> {
  try {
    await gateway.call("sessions.abort", { key, clearQueued: true }, { timeoutMs: STOP_LIMIT_MS });
    return true;
  } catch (error) {
    return !(error instanceof GatewayError && error.code === "DISCONNECTED");
  }
}

/** Stops runs that are still active in the session, such as sub-agents that the run did not wait for. */
async function stopLeftovers({ gateway, key }: GatewayTask): Promise<void> {
  const left = await gateway.call("tasks.list", { sessionKey: key, status: ["queued", "running"], limit: 1 }).catch(() => null);
  if (z.object({ tasks: z.array(z.unknown()).min(1) }).safeParse(left).success) await stopSession(gateway, key);
}
