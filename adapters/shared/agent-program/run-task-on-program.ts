import { homedir } from "node:os";
import type { ExecutionEventListener, ExecutionRequest, ExecutionResult } from "#contract";
import { createConversation } from "#contract";
import type { CallStore } from "../declared-tools/call-store.ts";
import { runWithDeclaredTools, type ToolTask } from "../declared-tools/run-with-declared-tools.ts";
import type { SharedProxy } from "../model-proxy/shared-proxy.ts";
import { createNotStartedResult } from "../process/failure.ts";
import { MAX_TEXT_BYTES } from "../process/text-limit.ts";
import type { AgentProgram, ConnectionResult, ProgramConnection, ProgramContext } from "./agent-program.ts";
import { needsApproval } from "./decide-approval.ts";
import { finishAnswer } from "./finish-answer.ts";
import { type FoundConnection, isUsable } from "./preflight.ts";
import { createProxyStep, findProxyUse } from "./proxy-use.ts";
import { runThroughProxy } from "./run-through-proxy.ts";
import type { SessionTotals } from "./session-totals.ts";
import { createTaskTimeline } from "./task-timeline.ts";

/** What an adapter gives to a task. */
export interface TaskHost {
  context: ProgramContext;
  totals: SessionTotals;
  openCalls: CallStore;
  found: readonly FoundConnection[];
  proxy: SharedProxy;
  emit: ExecutionEventListener;
  /** Aborted when the task is to stop. */
  signal: AbortSignal;
}

/** Runs one task on the first connection that supports it. */
export async function runTaskOnProgram(
  program: AgentProgram,
  originalRequest: ExecutionRequest,
  { context, totals, openCalls, found, proxy, emit, signal }: TaskHost,
): Promise<ExecutionResult> {
  const usable = found.filter(isUsable);
  const selected = usable.find(({ connection }) => unsupportedReason(connection, originalRequest) === null);
  if (selected === undefined) {
    const reasons = found.map(({ connection, lookup, probe }) => {
      if ("missing" in lookup) return `${connection.name}: ${lookup.missing}`;
      return `${connection.name}: ${probe?.ok === false ? probe.reason : unsupportedReason(connection, originalRequest)}`;
    });
    const errorCode = usable.length > 0 ? "adapter_error" : "adapter_offline";
    const error = `No connection of the ${program.provider} adapter can run this task. ${reasons.join(" ")}`;
    return createNotStartedResult(program.connections[0]?.name ?? "cli", errorCode, error);
  }
  const { connection, lookup } = selected;
  const proxyUse = findProxyUse(program, connection, context);
  if (proxyUse.kind === "impossible" && proxyUse.isRequired)
    return createNotStartedResult(connection.name, "adapter_offline", createProxyStep(proxyUse)?.detail ?? "");
  const startedAt = performance.now();
  const request = context.settings.home === "user" ? replaceHome(originalRequest, context) : originalRequest;
  const textLimit = new AbortController();
  const { taskId, message } = request;
  const { streaming } = connection.capabilities;
  // Bridge records the conversation from the events. A connection that does not stream emits no text, so its conversation is recorded here.
  const conversation = createConversation(message, { wholeMessages: true });
  const timeline = createTaskTimeline(
    taskId,
    (event) => {
      if (!streaming) conversation.add(event);
      emit(event);
    },
    {
      streaming,
      maxBytes: MAX_TEXT_BYTES,
      onTooLong: () => textLimit.abort(),
      onUnstreamedText: (content) => conversation.add({ type: "assistant.text", taskId, data: { content } }),
    },
  );
  try {
    const stop = AbortSignal.any([signal, textLimit.signal]);
    const task = { request, context, timeline, signal: stop, totals };
    const host = { store: openCalls, logger: context.logger, reservedNames: connection.reservedToolNames ?? [] };
    const run = (proxied: typeof task): Promise<ConnectionResult> => {
      const execute = (toolTask: ToolTask): Promise<ConnectionResult> => connection.execute({ ...proxied, ...toolTask }, lookup.argv);
      return connection.passesDeclaredTools === true ? execute(proxied) : runWithDeclaredTools(proxied, host, execute);
    };
    const result = proxyUse.kind === "on" ? await runThroughProxy(task, { plan: proxyUse.plan, proxy, emit }, run) : await run(task);
    const { emptyAnswers } = connection;
    const finished = finishAnswer(result, { request, timeline, emptyAnswers });
    const conversationMessages = conversation.messages();
    return {
      ...finished,
      ...(conversationMessages !== undefined && { conversationMessages }),
      durationMs: performance.now() - startedAt,
      connection: connection.name,
    };
  } catch (error) {
    // No event may follow the result, even after a bug.
    timeline.close();
    throw error;
  }
}

/** Returns why a connection does not support a request; null if it does. */
function unsupportedReason(connection: ProgramConnection, request: ExecutionRequest): string | null {
  if (needsApproval(request) && !connection.capabilities.approvals)
    return 'this connection does not support approvals. Set `approvals` to "deny" or "allow".';
  if ((request.tools?.length ?? 0) > 0 && !connection.capabilities.tools)
    return "this connection does not support declared tools. Omit `tools`.";
  return connection.unsupportedReason?.(request) ?? null;
}

/** Replaces the agent's home by the operator's. */
function replaceHome(request: ExecutionRequest, { env }: ProgramContext): ExecutionRequest {
  return { ...request, directories: { ...request.directories, home: env["HOME"] ?? homedir() } };
}
