import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
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
import { type ToolTask, withDeclaredTools } from "../declared-tools/with-declared-tools.ts";
import { MAX_TEXT_BYTES } from "../process/text-limit.ts";
import type { AgentProgram, Ending, ProgramConnection, ProgramContext } from "./agent-program.ts";
import { asks } from "./decide-call.ts";
import { finishAnswer } from "./finish-answer.ts";
import { notStarted } from "./not-started.ts";
import { type FoundConnection, findConnections, isUsable, type Probes, probeConnections, reportHealth } from "./preflight.ts";
import { createRunningTasks } from "./running-tasks.ts";
import { createSessionTotals, forgetOldTotals, type SessionTotals } from "./session-totals.ts";
import { programSettingsSchema } from "./settings.ts";
import { createTaskStory } from "./task-story.ts";

/** How long a list of models is good for. */
const MODELS_KEPT_MS = 10 * 60_000;

/** How long the programs that are being probed may take to end. */
const PROBE_STOP_LIMIT_MS = 2_000;

interface Ready {
  context: ProgramContext;
  totals: SessionTotals;
  openCalls: CallStore;
  /** As the last preflight found them; tasks go by this while the next one is under way. */
  found: readonly FoundConnection[];
  probes: Probes;
  /** As the program told them last. */
  models?: { told: Promise<string[] | null>; at: number };
}

/** Makes the adapter of an agent program: everything that is the same for all of them. */
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
      await forgetOldTotals(directory);
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
      const asked = ready?.probes.underway.values() ?? [];
      ready = null;
      closing.abort();
      await Promise.allSettled([running.stopAll(), ...checks]);
      // Programs that were still starting end with the adapter; one that does not is not waited for.
      await Promise.race([Promise.allSettled(asked), delay(PROBE_STOP_LIMIT_MS, undefined, { ref: false })]);
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
      // A task that asks goes to a connection that can.
      const claimed = { ...used.capabilities, ...(ready !== null && used.claims?.(ready.context)) };
      return { ...claimed, approvals: [used, ...others].some(({ capabilities }) => capabilities.approvals) };
    },

    async execute(request) {
      const given = ready;
      if (given === null) return notStarted(firstOf(program), "adapter_offline", notRunning(program));
      return running.run(request.taskId, ({ signal }) => runTask(program, request, given, running.emit, signal));
    },

    async listModels() {
      if (ready === null || program.listModels === undefined) return null;
      const { models, context } = ready;
      if (models !== undefined && Date.now() - models.at < MODELS_KEPT_MS) return await models.told;
      const list = program.listModels;
      const told = pRetry(() => list(context), { retries: 1, minTimeout: 200, shouldRetry: () => context.closed?.aborted !== true });
      const asked = ready;
      asked.models = { told, at: Date.now() };
      checks.add(told);
      try {
        return await told;
      } catch (error) {
        // What failed is tried again.
        delete asked.models;
        throw error;
      } finally {
        checks.delete(told);
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
  await Promise.all([sweepOld(program, ready), probeConnections(found, context, probes)]);
  ready.found = found;
  return reportHealth(program, found, context);
}

/** Also those that nobody uses any more have kept something. What cannot be removed now hinders no task, and is tried again. */
async function sweepOld({ connections }: AgentProgram, { context, openCalls }: Ready): Promise<void> {
  const swept = await Promise.allSettled([openCalls.sweep(), ...connections.map((connection) => connection.sweep?.(context))]);
  for (const end of swept) if (end.status === "rejected") context.logger.warn({ err: end.reason }, "what is too old cannot be removed");
}

async function runTask(
  program: AgentProgram,
  given: ExecutionRequest,
  { context, totals, openCalls, found }: Ready,
  emit: ExecutionEventListener,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const usable = found.filter(isUsable);
  const used = usable.find(({ connection }) => obstacleTo(connection, given) === null);
  if (used === undefined) {
    const reasons = found.map(({ connection, finding, probe }) => {
      if ("missing" in finding) return `${connection.name}: ${finding.missing}`;
      return `${connection.name}: ${probe?.ok === false ? probe.reason : obstacleTo(connection, given)}`;
    });
    const errorCode = usable.length > 0 ? "adapter_error" : "adapter_offline";
    return notStarted(firstOf(program), errorCode, `No connection to the runtime can carry this task. ${reasons.join(" ")}`);
  }
  const { connection, finding } = used;
  const startedAt = performance.now();
  const request = context.settings.home === "user" ? inUserHome(given, context) : given;
  const tooLong = new AbortController();
  const { taskId, message } = request;
  const { streaming } = connection.capabilities;
  // Bridge records the events of connections that stream; the text of the others is in no event.
  const conversation = createConversation(message, { wholeMessages: true });
  const story = createTaskStory(
    taskId,
    (event) => {
      if (!streaming) conversation.add(event);
      emit(event);
    },
    {
      streaming,
      maxBytes: MAX_TEXT_BYTES,
      onTooLong: () => tooLong.abort(),
      onUntold: (content) => conversation.add({ type: "assistant.text", taskId, data: { content } }),
    },
  );
  try {
    const stop = AbortSignal.any([signal, tooLong.signal]);
    const task = { request, context, story, signal: stop, totals };
    const run = (given: ToolTask): Promise<Ending> => connection.execute({ ...task, ...given }, finding.argv);
    const host = { store: openCalls, logger: context.logger, reservedNames: connection.reservedToolNames ?? [] };
    const ending = connection.hasOwnTools === true ? await run(task) : await withDeclaredTools(task, host, run);
    const { emptyAnswers } = connection;
    const finished = finishAnswer(ending, { request, story, emptyAnswers });
    const conversationMessages = conversation.messages();
    return {
      ...finished,
      ...(conversationMessages !== undefined && { conversationMessages }),
      durationMs: performance.now() - startedAt,
      connection: connection.name,
    };
  } catch (error) {
    // The story ends before the result, also in case of a bug.
    story.close();
    throw error;
  }
}

/** Why a connection cannot carry a request; null when it can. */
function obstacleTo(connection: ProgramConnection, request: ExecutionRequest): string | null {
  if (asks(request) && !connection.capabilities.approvals)
    return 'it cannot ask before a tool call: dispatch with approvals "deny" or "allow".';
  if ((request.tools?.length ?? 0) > 0 && !connection.capabilities.tools) return "it takes no tools: dispatch without them.";
  return connection.obstacleTo?.(request) ?? null;
}

function inUserHome(request: ExecutionRequest, { env }: ProgramContext): ExecutionRequest {
  return { ...request, directories: { ...request.directories, home: env["HOME"] ?? homedir() } };
}

const notRunning = ({ provider }: AgentProgram): string => `The ${provider} adapter is not running.`;

/** The connection that is tried first. */
const firstOf = ({ connections: [first] }: AgentProgram): Connection => first?.name ?? "cli";
