import path from "node:path";
import { withTimeout } from "@hak2i/async-kit";
import pRetry from "p-retry";
import type { AdapterCapabilities, AdapterHealthStatus, ExecutionAdapter, ModelLister, Paced } from "#contract";
import { type CallStore, createCallStore } from "../declared-tools/call-store.ts";
import { createSharedProxy, type SharedProxy } from "../model-proxy/shared-proxy.ts";
import { createNotStartedResult } from "../process/failure.ts";
import type { AgentProgram, ProgramConnection, ProgramContext } from "./agent-program.ts";
import { type FoundConnection, findConnections, isUsable, type Probes, probeConnections, reportHealth } from "./preflight.ts";
import { findProxyUse } from "./proxy-use.ts";
import { runTaskOnProgram } from "./run-task-on-program.ts";
import { createRunningTasks } from "./running-tasks.ts";
import { createSessionTotals, removeOldTotals, type SessionTotals } from "./session-totals.ts";
import { programSettingsSchema } from "./settings.ts";

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
  proxy: SharedProxy;
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
        proxy: createSharedProxy(context),
      };
    },

    async shutdown() {
      const stopped = state;
      const probes = state?.probes.running.values() ?? [];
      state = null;
      closing.abort();
      await Promise.allSettled([running.stopAll(), ...checks]);
      // `closing` stops the probes. The shutdown does not depend on a program that ignores it.
      await withTimeout(Promise.allSettled(probes), PROBE_STOP_LIMIT_MS, () => {});
      if (stopped === null) return;
      await Promise.all([stopped.proxy.close(), ...program.connections.map((connection) => connection.close?.(stopped.context))]);
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
      const capabilities = { ...first.capabilities, ...(state !== null && describeConfigured(program, first, state.context)) };
      // A task that needs approvals uses a connection that supports them.
      return { ...capabilities, approvals: [first, ...others].some((connection) => connection.capabilities.approvals) };
    },

    async execute(request) {
      const current = state;
      if (current === null)
        return createNotStartedResult(program.connections[0]?.name ?? "cli", "adapter_offline", describeNotRunning(program));
      return running.run(request.taskId, ({ signal }) => runTaskOnProgram(program, request, { ...current, emit: running.emit, signal }));
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

/** Returns the capabilities of a connection that depend on the settings. */
const describeConfigured = (
  program: AgentProgram,
  connection: ProgramConnection,
  context: ProgramContext,
): Partial<AdapterCapabilities> => ({
  ...connection.configuredCapabilities?.(context),
  ...(findProxyUse(program, connection, context).kind === "on" && { holdsModelCalls: true }),
});

async function checkProgram(program: AgentProgram, state: AdapterState): Promise<AdapterHealthStatus> {
  const { context, probes } = state;
  const startedAt = performance.now();
  const found = findConnections(program, context);
  await Promise.all([removeExpiredData(program, state), probeConnections(found, context, probes)]);
  state.found = found;
  return reportHealth(program, found, context, startedAt);
}

/** Removes expired data of all connections, also of those that are not used. Logs a failure; the next health check tries again. */
async function removeExpiredData({ connections }: AgentProgram, { context, openCalls }: AdapterState): Promise<void> {
  const sweeps = await Promise.allSettled([openCalls.sweep(), ...connections.map((connection) => connection.sweep?.(context))]);
  for (const sweep of sweeps)
    if (sweep.status === "rejected") context.logger.warn({ err: sweep.reason }, "failed to remove expired session data");
}

const describeNotRunning = ({ provider }: AgentProgram): string => `The ${provider} adapter is not running.`;
