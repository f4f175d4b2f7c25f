import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import { v7 as uuidv7 } from "uuid";
import type { AdapterEvent, ChildRequest, ExecutionResult } from "#contract";
import type { CallbackGuard } from "../callbacks/callback-guard.ts";
import { BridgeError } from "../errors.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { Store } from "../store/store.ts";
import { isFinal, type Task, type TaskRequest, taskHandle } from "../task.ts";
import type { AdapterRegistry } from "./adapter-registry.ts";
import { checkDispatch } from "./check-dispatch.ts";
import type { ParsedDispatch } from "./dispatch-request.ts";
import { createLanes, type Lane } from "./lanes.ts";
import { readAgentFile } from "./prompt-files.ts";
import { describeEnd, type Run, runTask, type StopCode } from "./run-task.ts";
import { logTaskEnd } from "./task-end.ts";
import type { Workspaces } from "./workspace.ts";

/** What the dispatcher works with. */
export interface DispatcherOptions {
  store: Store;
  eventLog: EventLog;
  registry: AdapterRegistry;
  workspaces: Workspaces;
  guard: CallbackGuard;
  metrics: Metrics;
  logger: Logger;
  /** A task has ended and owes a callback to this origin. */
  onCallbackDue(origin: string): void;
  maxConcurrent(provider: string): number;
  queueLimit: number;
  idleSeconds: number;
  drainSeconds: number;
  mcpCommands: readonly string[];
  /** How long a stopped runtime may take to be gone; longer than SIGTERM, 5 s, SIGKILL and the sweep take together. */
  stopGraceMs?: number;
}

/** Who dispatches. */
interface Caller {
  tenant: string;
  traceparent: string | null;
}

/** How busy an adapter is. */
export interface Load {
  running: number;
  queued: number;
  maxConcurrent: number;
}

/** Accepts tasks, runs them under their adapter's limit, and brings each to exactly one end. */
export interface Dispatcher {
  /** Ends what a crash cut off. Call it once, before the registry starts and anything is accepted. */
  recover(): Promise<void>;
  /** Stores the task, or finds the one that has its id. Throws BridgeError. */
  accept(dispatch: ParsedDispatch, caller: Caller): Promise<{ task: Task; replayed: boolean }>;
  /** Stops a task and its children; `changed` is false when it had ended before. */
  cancel(tenant: string, taskId: string): Promise<{ task: Task; changed: boolean }>;
  /** The task as it stands when it has ended, the time is over, or the signal is aborted. */
  waitForEnd(task: Task, timeoutMs: number, signal?: AbortSignal): Promise<Task>;
  /** Runs a task for another one, to its end. */
  runChild(request: ChildRequest): Promise<ExecutionResult>;
  onAdapterEvent(provider: string, event: AdapterEvent): void;
  /** The adapter's health is known: what waits for it starts, or ends when it is offline. */
  onAdapterChecked(provider: string): void;
  load(provider: string): Load;
  readonly draining: boolean;
  /** Accepts nothing new, lets running tasks end in their time, then stops them. */
  drain(): Promise<void>;
}

const STOP_GRACE_MS = 15_000;
const CHILD_TIMEOUT_SECONDS = 600;
/** Failures that may mean that the runtime itself is in trouble. */
const suspicious = new Set(["adapter_offline", "adapter_error", "authentication_required", "runtime_crashed", "spawn_failed"]);

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, eventLog, registry, workspaces, metrics, logger } = options;
  const lanes = createLanes(options.maxConcurrent);
  const runs = new Map<string, Run>();
  const waiters = new Map<number, Set<(task: Task) => void>>();
  let draining = false;

  // --- accept ---------------------------------------------------------------------------------------------------------

  async function accept(dispatch: ParsedDispatch, caller: Caller): Promise<{ task: Task; replayed: boolean }> {
    const known = dispatch.taskId === null ? null : await store.findTask(caller.tenant, dispatch.taskId);
    if (known !== null) return replay(known, dispatch);
    if (draining) throw new BridgeError("draining", "Bridge is stopping and accepts no new tasks.");
    const provider = chooseProvider(dispatch, caller.tenant);
    const { request, agentId, fingerprint } = dispatch;
    await check(request, provider, { tenant: caller.tenant, agentId });
    if (lanes.queuedInAll() >= options.queueLimit) throw new BridgeError("queue_full", "The queue is full; try again later.");

    const lane = lanes.of(provider);
    lane.queued += 1;
    const inserting = store.insertTaskIfAbsent({
      tenant: caller.tenant,
      taskId: dispatch.taskId ?? uuidv7(),
      parent: null,
      agentId,
      provider,
      request,
      fingerprint,
      traceparent: caller.traceparent,
    });
    // Rides the same commit when a slot is free.
    fill(lane);
    const { task, inserted } = await inserting.catch((error: unknown) => {
      lane.queued -= 1;
      throw error;
    });
    if (inserted) return { task, replayed: false };
    lane.queued -= 1;
    return replay(task, dispatch);
  }

  function replay(task: Task, dispatch: ParsedDispatch): { task: Task; replayed: boolean } {
    if (task.fingerprint === dispatch.fingerprint) return { task, replayed: true };
    throw new BridgeError("task_conflict", "Another request has this taskId already; a repeat must be the same request.", {
      errors: [{ path: "taskId", message: "is taken by a different request; use a new taskId" }],
    });
  }

  function chooseProvider(dispatch: ParsedDispatch, tenant: string): string {
    const names = registry.list().map((entry) => entry.provider);
    const only = names.length === 1 ? names[0] : undefined;
    const provider = dispatch.provider ?? providerOfAgent(tenant, dispatch.agentId) ?? only;
    if (provider !== undefined && names.includes(provider)) return provider;
    const message = provider === undefined ? "is needed, because several adapters are loaded" : "is not a loaded adapter";
    throw new BridgeError("unknown_provider", `The provider ${message}. Loaded: ${names.join(", ")}.`, {
      errors: [{ path: "provider", message: `${message} (${names.join(", ")})` }],
    });
  }

  function providerOfAgent(tenant: string, agentId: string): string | undefined {
    try {
      return readAgentFile(workspaces.workspaceOf(tenant, agentId)).provider;
    } catch {
      // A faulty agent.json is told by the task that reads it for its other settings.
      return undefined;
    }
  }

  async function check(request: TaskRequest, provider: string, { tenant, agentId }: { tenant: string; agentId: string }): Promise<void> {
    const entry = registry.get(provider);
    if (entry === undefined || entry.adapter === null || entry.health.status === "offline") {
      throw new BridgeError("adapter_offline", offlineText(provider), { retryAfterSeconds: 30 });
    }
    const workspace = workspaces.workspaceOf(tenant, agentId);
    checkDispatch(request, {
      provider,
      capabilities: entry.adapter.capabilities(),
      guard: options.guard,
      mcpCommands: options.mcpCommands,
      workspace,
    });
    const token = request.resumeToken;
    if (token === undefined || (await store.isResumeTokenKnown({ tenant, provider, agentId, token }))) return;
    throw new BridgeError("resume_unknown", "The resume token is not known for this provider and agent.", {
      errors: [{ path: "resumeToken", message: "was not handed out for this provider and agent, or has expired" }],
    });
  }

  // --- run ------------------------------------------------------------------------------------------------------------

  /** Claims as many tasks as there are free slots; none before the adapter has answered for the first time. */
  function fill(lane: Lane): void {
    if ((registry.get(lane.provider)?.health.checkedAt ?? null) === null) return;
    const claims = Math.min(lane.maxConcurrent - lane.running, lane.queued);
    for (let claim = 0; claim < claims; claim += 1) {
      // Only a closed store ends here: what is cut off now is dealt with at the next start.
      startNext(lane).catch((error: unknown) => logger.error({ err: error, provider: lane.provider }, "a task's story broke off"));
    }
  }

  async function startNext(lane: Lane): Promise<void> {
    lane.running += 1;
    const task = await store.startNextTaskIfQueued(lane.provider, { childrenOnly: draining });
    if (task === null) {
      // What waits in this lane waits for a resume token; the end of its holder fills the lane again.
      lane.running -= 1;
      return;
    }
    lane.queued -= 1;
    await tellStory(task);
    lane.running -= 1;
    fill(lane);
  }

  /** From the claim to the free slot. */
  async function tellStory(task: Task): Promise<void> {
    const handle = taskHandle(task);
    const entry = registry.get(task.provider);
    if (entry === undefined || entry.adapter === null || entry.health.status === "offline") {
      await settle(await store.finishTaskIfRunning(task.seq, describeEnd(task, offlineResult(task.provider))));
      return;
    }
    const run = runTask(task, {
      store,
      eventLog,
      workspaces,
      metrics,
      adapter: entry.adapter,
      idleSeconds: options.idleSeconds,
      stopGraceMs: options.stopGraceMs ?? STOP_GRACE_MS,
      onBug: (error) =>
        logger.error({ err: error, taskId: task.taskId, tenant: task.tenant, provider: task.provider }, "an adapter broke its contract"),
    });
    runs.set(handle, run);
    metrics.executionsInFlight.inc({ provider: task.provider });
    const ended = await run.ended;
    if (ended === null) lanes.of(task.provider).queued += 1;
    await settle(ended);
    await run.gone;
    runs.delete(handle);
    metrics.executionsInFlight.dec({ provider: task.provider });
  }

  /** What follows the end of a task: its log line, its numbers, its callback, everyone who waits for it, its children. */
  async function settle(task: Task | null): Promise<void> {
    if (task === null) return;
    logTaskEnd(task, { logger, metrics });
    if (task.request.callbackUrl !== undefined) options.onCallbackDue(new URL(task.request.callbackUrl).origin);
    for (const resolve of waiters.get(task.seq) ?? []) resolve(task);
    if (suspicious.has(task.result?.errorCode ?? "")) registry.suspect(task.provider);
    await cancelChildren(task);
  }

  // --- stop -----------------------------------------------------------------------------------------------------------

  async function cancel(tenant: string, taskId: string): Promise<{ task: Task; changed: boolean }> {
    const task = await store.findTask(tenant, taskId);
    if (task === null) throw new BridgeError("not_found", "There is no such task.");
    if (isFinal(task.state)) return { task, changed: false };
    if (task.state === "queued") {
      const ended = await endQueued(task, failedResult("cancelled", "The task was cancelled before it started."));
      if (ended !== null) return { task: ended, changed: true };
    }
    await stopRunning(task, "cancelled", "The task was cancelled.");
    return { task: (await store.findTask(tenant, taskId)) ?? task, changed: true };
  }

  async function stopRunning(task: Task, code: StopCode, reason: string): Promise<void> {
    let run = runs.get(taskHandle(task));
    // Between the commit of a claim and the run lie a few turns.
    while (run === undefined && (await store.findTask(task.tenant, task.taskId))?.state === "running") {
      await nextTurn();
      run = runs.get(taskHandle(task));
    }
    run?.stop(code, reason);
    await cancelChildren(task);
  }

  async function cancelChildren(parent: Task): Promise<void> {
    for (const child of await store.listUnfinishedChildren(parent.seq)) await cancel(child.tenant, child.taskId);
  }

  async function endQueued(task: Task, result: ExecutionResult): Promise<Task | null> {
    const ended = await store.finishTaskIfQueued(task.seq, describeEnd(task, result));
    if (ended !== null) lanes.of(task.provider).queued -= 1;
    await settle(ended);
    return ended;
  }

  async function endAllQueued(provider: string): Promise<void> {
    for (let task = await store.findQueuedTask(provider); task !== null; task = await store.findQueuedTask(provider)) {
      await endQueued(task, offlineResult(provider));
    }
  }

  function offlineResult(provider: string): ExecutionResult {
    return failedResult("adapter_offline", offlineText(provider));
  }

  async function drain(): Promise<void> {
    draining = true;
    const over = AbortSignal.timeout(options.drainSeconds * 1000);
    await Promise.race([
      Promise.all([...runs.values()].map((run) => run.gone)),
      new Promise((resolve) => over.addEventListener("abort", resolve)),
    ]);
    for (const run of runs.values()) run.stop("bridge_shutdown", "Bridge was stopped while the task ran.");
    await Promise.all([...runs.values()].map((run) => run.ended));
  }

  // --- start ----------------------------------------------------------------------------------------------------------

  async function recover(): Promise<void> {
    for (const [provider, count] of await store.countQueuedTasks()) lanes.of(provider).queued = count;
    for (const task of await store.listInterruptedTasks()) {
      const result = failedResult("bridge_restarted", "Bridge was restarted while the task ran.");
      if (task.state === "queued") await endQueued(task, result);
      else if (task.parentSeq === null && task.request.onInterrupt === "retry" && (await store.requeueTaskIfRunning(task.seq)))
        lanes.of(task.provider).queued += 1;
      else await settle(await store.finishTaskIfRunning(task.seq, describeEnd(task, result)));
    }
    for (const { provider } of lanes.all()) if (registry.get(provider) === undefined) await endAllQueued(provider);
  }

  // --- children -------------------------------------------------------------------------------------------------------

  async function runChild(child: ChildRequest): Promise<ExecutionResult> {
    const parent = runs.get(child.parentTaskId);
    if (parent === undefined) throw new Error(`No running task ${child.parentTaskId} can have a child.`);
    const { task: of } = parent;
    if (ancestorsOf(of).some((ancestor) => ancestor.provider === child.provider)) {
      return failedResult(
        "adapter_error",
        `A task of ${child.provider} cannot wait for a child of the same adapter: it may hold the slot that the child needs.`,
      );
    }
    const agentId = child.agentId ?? of.agentId;
    const request: TaskRequest = {
      message: child.message,
      ...(child.systemPrompt !== undefined && { systemPrompt: child.systemPrompt }),
      ...(child.model !== undefined && { model: child.model }),
      ...(child.resumeToken !== undefined && { resumeToken: child.resumeToken }),
      ...(child.metadata !== undefined && { metadata: child.metadata }),
      timeoutSeconds: Math.max(1, Math.min(child.timeoutSeconds ?? CHILD_TIMEOUT_SECONDS, Math.ceil(parent.remainingMs() / 1000))),
      outputStrategy: child.outputStrategy ?? { type: "stream" },
      // A child may do less than its parent, never more.
      profile: of.request.profile === "inspect" ? "inspect" : (child.profile ?? "modify"),
      approvals: of.request.approvals,
      onInterrupt: "fail",
    };
    try {
      await check(request, child.provider, { tenant: of.tenant, agentId });
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return failedResult(error.code === "adapter_offline" ? "adapter_offline" : "adapter_error", error.message);
    }
    const lane = lanes.of(child.provider);
    lane.queued += 1;
    const inserting = store.insertTaskIfAbsent({
      tenant: of.tenant,
      taskId: uuidv7(),
      parent: of,
      agentId,
      provider: child.provider,
      request,
      fingerprint: "",
      traceparent: of.traceparent,
    });
    fill(lane);
    const { task } = await inserting;
    const ended = await endOf(task);
    return ended.result as ExecutionResult;
  }

  function ancestorsOf(task: Task): Task[] {
    const parent = task.parentTaskId === null ? undefined : runs.get(taskHandle({ tenant: task.tenant, taskId: task.parentTaskId }));
    return [task, ...(parent === undefined ? [] : ancestorsOf(parent.task))];
  }

  /** Resolves with the ended task, or with the task as it was when the signal ends the wait. */
  async function endOf(task: Task, signal?: AbortSignal): Promise<Task> {
    const { promise, resolve } = Promise.withResolvers<Task>();
    const waiting = waiters.get(task.seq) ?? new Set();
    waiters.set(task.seq, waiting.add(resolve));
    signal?.addEventListener("abort", () => resolve(task), { once: true });
    try {
      // It may have ended before anybody listened.
      const now = await store.findTask(task.tenant, task.taskId);
      return now !== null && isFinal(now.state) ? now : await promise;
    } finally {
      waiting.delete(resolve);
      if (waiting.size === 0) waiters.delete(task.seq);
    }
  }

  return {
    recover,
    accept,
    cancel,
    async waitForEnd(task, timeoutMs, signal) {
      if (isFinal(task.state)) return task;
      const time = AbortSignal.timeout(timeoutMs);
      const ended = await endOf(task, signal === undefined ? time : AbortSignal.any([time, signal]));
      return isFinal(ended.state) ? ended : ((await store.findTask(task.tenant, task.taskId)) ?? ended);
    },
    runChild,
    onAdapterEvent(provider, event) {
      const run = runs.get(event.taskId);
      if (run === undefined || run.task.provider !== provider) {
        metrics.eventsDropped.inc({ provider, reason: "task" });
        return;
      }
      run.onEvent(event);
      const { parentTaskId, tenant } = run.task;
      if (parentTaskId !== null) runs.get(taskHandle({ tenant, taskId: parentTaskId }))?.touch();
    },
    onAdapterChecked(provider) {
      if (registry.get(provider)?.health.status !== "offline") fill(lanes.of(provider));
      else void endAllQueued(provider).catch((error: unknown) => logger.error({ err: error, provider }, "queued tasks could not be ended"));
    },
    load: (provider) => {
      const { running, queued, maxConcurrent } = lanes.of(provider);
      return { running, queued, maxConcurrent };
    },
    get draining() {
      return draining;
    },
    drain,
  };
}

const offlineText = (provider: string): string => `The adapter ${provider} is offline; GET /api/v2/adapters tells why.`;

function failedResult(errorCode: "cancelled" | "adapter_offline" | "adapter_error" | "bridge_restarted", error: string): ExecutionResult {
  return { status: "error", durationMs: 0, errorCode, error, connection: "in-process" };
}
