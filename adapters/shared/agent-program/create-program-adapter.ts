import { homedir } from "node:os";
import path from "node:path";
import { withTimeout } from "@hak2i/async-kit";
import pRetry from "p-retry";
import type {
  AdapterHealthStatus,
  Connection,
  ExecutionAdapter,
  ExecutionEventListener,
  ExecutionRequest,
  ExecutionResult,
  ModelLister,
  Paced,
} from "#contract";
import { createConversation } from "#contract";
import { type CallStore, createCallStore } from "../declared-tools/call-store.ts";
import { runWithDeclaredTools, type ToolTask } from "../declared-tools/run-with-declared-tools.ts";
import { createNotStartedResult } from "../process/failure.ts";
import { MAX_TEXT_BYTES } from "../process/text-limit.ts";
import type { AgentProgram, ConnectionResult, ProgramConnection, ProgramContext } from "./agent-program.ts";
import { needsApproval } from "./decide-approval.ts";
import { finishAnswer } from "./finish-answer.ts";
import { type FoundConnection, findConnections, isUsable, type Probes, probeConnections, reportHealth } from "./preflight.ts";
import { createRunningTasks } from "./running-tasks.ts";
import { createSessionTotals, removeOldTotals, type SessionTotals } from "./session-totals.ts";
import { programSettingsSchema } from "./settings.ts";
import { createTaskTimeline } from "./task-timeline.ts";

/** How long a list of models is cached. */
const MODELS_CACHE_MS = 10 * 60_000;

/** How long a shutdown waits for running probes. */
const PROBE_STOP_LIMIT_MS = 2_000;

/** The state of an adapter between `initialize()` and `shutdown()`. */
interface AdapterState {
  context: ProgramContext;
  totals: SessionTotals;
  openCalls: CallStore;
  /** The result of the last preflight. Tasks use it while the next one is running. */
  found: readonly FoundConnection[];
  probes: Probes;
  /** The last list of models and the time of its request. */
  models?: { list: Promise<string[] | null>; at: number };
}

/** Creates the adapter of an agent program: connections, preflight, declared tools, the event log and the result of each task. */
export function createProgramAdapter(program: AgentProgram): Required<ExecutionAdapter> & ModelLister & Paced {
  const running = createRunningTasks();
  const checks = new Set<Promise<unknown>>();
  let closing = new AbortController();
  let state: AdapterState | null = null;

  return {
    provider: program.provider,
    timeoutMultiplier: program.timeoutMultiplier,

    async initialize({ settings, sandboxFault = null, ...host }) {
      closing = new AbortController();
      const context = { ...host, sandboxFault, settings: programSettingsSchema.parse(settings), shutdownSignal: closing.signal };
      const { filesDir, retentionDays } = host;
      const directory = path.join(filesDir, "sessions");
      const probes: Probes = { answers: new Map(), running: new Map() };
      await removeOldTotals(directory);
      state = {
        context,
        totals: createSessionTotals(directory),
        openCalls: createCallStore(filesDir, retentionDays),
        found: findConnections(program, context),
        probes,
      };
    },

    async shutdown() {
      const context = state?.context;
      const probes = state?.probes.running.values() ?? [];
      state = null;
      closing.abort();
      await Promise.allSettled([running.stopAll(), ...checks]);
      // `closing` stops the probes. The shutdown does not depend on a program that ignores it.
      await withTimeout(Promise.allSettled(probes), PROBE_STOP_LIMIT_MS, () => {});
      if (context !== undefined) await Promise.all(program.connections.map((connection) => connection.close?.(context)));
    },

    async checkHealth() {
      if (state === null) return { status: "offline", connection: null, version: null, detail: describeNotRunning(program), preflight: [] };
      const check = checkProgram(program, state);
      checks.add(check);
      return await check.finally(() => checks.delete(check));
    },

    capabilities() {
      const usable = state?.found.filter(isUsable).map(({ connection }) => connection) ?? [];
      const [first, ...others] = usable.length > 0 ? usable : program.connections;
      if (first === undefined) throw new Error(`${program.provider} has no connections`);
      const capabilities = { ...first.capabilities, ...(state !== null && first.configuredCapabilities?.(state.context)) };
      // A task that needs approvals uses a connection that supports them.
      return { ...capabilities, approvals: [first, ...others].some((connection) => connection.capabilities.approvals) };
    },

    async execute(request) {
      const current = state;
      if (current === null) return createNotStartedResult(firstConnection(program), "adapter_offline", describeNotRunning(program));
      return running.run(request.taskId, ({ signal }) => runTask(program, request, current, running.emit, signal));
    },

    async listModels() {
      if (state === null || program.listModels === undefined) return null;
      const { models, context } = state;
      if (models !== undefined && performance.now() - models.at < MODELS_CACHE_MS) return await models.list;
      const { listModels } = program;
      const list = pRetry(() => listModels(context), {
        retries: 1,
        minTimeout: 200,
        shouldRetry: () => context.shutdownSignal?.aborted !== true,
      });
      const current = state;
      current.models = { list, at: performance.now() };
      checks.add(list);
      try {
        return await list;
      } catch (error) {
        // A failed request is not cached.
        delete current.models;
        throw error;
      } finally {
        checks.delete(list);
      }
    },

    cancel: running.cancel,
    onEvent: running.onEvent,
    offEvent: running.offEvent,
  };
}

async function checkProgram(program: AgentProgram, state: AdapterState): Promise<AdapterHealthStatus> {
  const { context, probes } = state;
  const found = findConnections(program, context);
  await Promise.all([removeExpiredData(program, state), probeConnections(found, context, probes)]);
  state.found = found;
  return reportHealth(program, found, context);
}

/** Removes expired data of all connections, also of those that are not used. Logs a failure; the next health check tries again. */
async function removeExpiredData({ connections }: AgentProgram, { context, openCalls }: AdapterState): Promise<void> {
  const sweeps = await Promise.allSettled([openCalls.sweep(), ...connections.map((connection) => connection.sweep?.(context))]);
  for (const sweep of sweeps)
    if (sweep.status === "rejected") context.logger.warn({ err: sweep.reason }, "failed to remove expired session data");
}

async function runTask(
  program: AgentProgram,
  originalRequest: ExecutionRequest,
  { context, totals, openCalls, found }: AdapterState,
  emit: ExecutionEventListener,
  signal: AbortSignal,
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
    return createNotStartedResult(firstConnection(program), errorCode, error);
  }
  const { connection, lookup } = selected;
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
    const run = (toolTask: ToolTask): Promise<ConnectionResult> => connection.execute({ ...task, ...toolTask }, lookup.argv);
    const host = { store: openCalls, logger: context.logger, reservedNames: connection.reservedToolNames ?? [] };
    const result = connection.passesDeclaredTools === true ? await run(task) : await runWithDeclaredTools(task, host, run);
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

const describeNotRunning = ({ provider }: AgentProgram): string => `The ${provider} adapter is not running.`;

/** Returns the connection for the result of a task that does not start. */
const firstConnection = ({ connections: [first] }: AgentProgram): Connection => first?.name ?? "cli";
