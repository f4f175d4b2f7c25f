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
import { notStartedResult } from "../process/failure.ts";
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
const MODELS_KEPT_MS = 10 * 60_000;

/** How long a shutdown waits for running probes. */
const PROBE_STOP_LIMIT_MS = 2_000;

interface Ready {
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
  let ready: Ready | null = null;

  return {
    provider: program.provider,
    timeoutMultiplier: program.timeoutMultiplier,

    async initialize({ settings, env, dataDir, retentionDays, logger, sandbox, fetch, lookup, onOrphansKilled, requestApproval }) {
      closing = new AbortController();
      const parsed = programSettingsSchema.parse(settings);
      const host = { env, dataDir, retentionDays, logger, sandbox, fetch, lookup, onOrphansKilled, requestApproval };
      const context = { ...host, settings: parsed, closed: closing.signal };
      const directory = path.join(dataDir, "sessions");
      const probes: Probes = { answered: new Map(), underway: new Map() };
      await removeOldTotals(directory);
      ready = {
        context,
        totals: createSessionTotals(directory),
        openCalls: createCallStore(dataDir, retentionDays),
        found: findConnections(program, context),
        probes,
      };
    },

    async shutdown() {
      const context = ready?.context;
      const probes = ready?.probes.underway.values() ?? [];
      ready = null;
      closing.abort();
      await Promise.allSettled([running.stopAll(), ...checks]);
      // `closing` stops the probes. The shutdown does not depend on a program that ignores it.
      await withTimeout(Promise.allSettled(probes), PROBE_STOP_LIMIT_MS, () => {});
      if (context !== undefined) await Promise.all(program.connections.map((connection) => connection.close?.(context)));
    },

    async checkHealth() {
      if (ready === null) return { status: "offline", connection: null, version: null, detail: notRunning(program), preflight: [] };
      const check = checkProgram(program, ready);
      checks.add(check);
      return await check.finally(() => checks.delete(check));
    },

    capabilities() {
      const usable = ready?.found.filter(isUsable).map(({ connection }) => connection) ?? [];
      const [used, ...others] = usable.length > 0 ? usable : program.connections;
      if (used === undefined) throw new Error(`${program.provider} has no connections`);
      // A task that needs approvals uses a connection that supports them.
      const claimed = { ...used.capabilities, ...(ready !== null && used.configuredCapabilities?.(ready.context)) };
      return { ...claimed, approvals: [used, ...others].some(({ capabilities }) => capabilities.approvals) };
    },

    async execute(request) {
      const current = ready;
      if (current === null) return notStartedResult(firstOf(program), "adapter_offline", notRunning(program));
      return running.run(request.taskId, ({ signal }) => runTask(program, request, current, running.emit, signal));
    },

    async listModels() {
      if (ready === null || program.listModels === undefined) return null;
      const { models, context } = ready;
      if (models !== undefined && Date.now() - models.at < MODELS_KEPT_MS) return await models.list;
      const { listModels } = program;
      const list = pRetry(() => listModels(context), { retries: 1, minTimeout: 200, shouldRetry: () => context.closed?.aborted !== true });
      const current = ready;
      current.models = { list, at: Date.now() };
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

async function checkProgram(program: AgentProgram, ready: Ready): Promise<AdapterHealthStatus> {
  const { context, probes } = ready;
  const found = findConnections(program, context);
  await Promise.all([removeExpiredData(program, ready), probeConnections(found, context, probes)]);
  ready.found = found;
  return reportHealth(program, found, context);
}

/** Removes expired data of all connections, also of those that are not used. Logs a failure; the next health check tries again. */
async function removeExpiredData({ connections }: AgentProgram, { context, openCalls }: Ready): Promise<void> {
  const sweeps = await Promise.allSettled([openCalls.sweep(), ...connections.map((connection) => connection.sweep?.(context))]);
  for (const sweep of sweeps)
    if (sweep.status === "rejected") context.logger.warn({ err: sweep.reason }, "failed to remove expired session data");
}

async function runTask(
  program: AgentProgram,
  given: ExecutionRequest,
  { context, totals, openCalls, found }: Ready,
  emit: ExecutionEventListener,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const usable = found.filter(isUsable);
  const used = usable.find(({ connection }) => unsupportedReason(connection, given) === null);
  if (used === undefined) {
    const reasons = found.map(({ connection, lookup, probe }) => {
      if ("missing" in lookup) return `${connection.name}: ${lookup.missing}`;
      return `${connection.name}: ${probe?.ok === false ? probe.reason : unsupportedReason(connection, given)}`;
    });
    const errorCode = usable.length > 0 ? "adapter_error" : "adapter_offline";
    const error = `No connection of the ${program.provider} adapter can run this task. ${reasons.join(" ")}`;
    return notStartedResult(firstOf(program), errorCode, error);
  }
  const { connection, lookup } = used;
  const startedAt = performance.now();
  const request = context.settings.home === "user" ? withUserHome(given, context) : given;
  const tooLong = new AbortController();
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
      onTooLong: () => tooLong.abort(),
      onUnstreamedText: (content) => conversation.add({ type: "assistant.text", taskId, data: { content } }),
    },
  );
  try {
    const stop = AbortSignal.any([signal, tooLong.signal]);
    const task = { request, context, timeline, signal: stop, totals };
    const run = (changed: ToolTask): Promise<ConnectionResult> => connection.execute({ ...task, ...changed }, lookup.argv);
    const host = { store: openCalls, logger: context.logger, reservedNames: connection.reservedToolNames ?? [] };
    const result = connection.hasOwnTools === true ? await run(task) : await runWithDeclaredTools(task, host, run);
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

/** Why a connection does not support a request; null if it does. */
function unsupportedReason(connection: ProgramConnection, request: ExecutionRequest): string | null {
  if (needsApproval(request) && !connection.capabilities.approvals)
    return 'this connection does not support approvals. Set `approvals` to "deny" or "allow".';
  if ((request.tools?.length ?? 0) > 0 && !connection.capabilities.tools)
    return "this connection does not support declared tools. Omit `tools`.";
  return connection.unsupportedReason?.(request) ?? null;
}

function withUserHome(request: ExecutionRequest, { env }: ProgramContext): ExecutionRequest {
  return { ...request, directories: { ...request.directories, home: env["HOME"] ?? homedir() } };
}

const notRunning = ({ provider }: AgentProgram): string => `The ${provider} adapter is not running.`;

/** The connection that is named in the result of a task that does not start. */
const firstOf = ({ connections: [first] }: AgentProgram): Connection => first?.name ?? "cli";
