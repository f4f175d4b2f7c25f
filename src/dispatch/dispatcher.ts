import { setImmediate as nextTurn } from "node:timers/promises";
import { withTimeout } from "@hak2i/async-kit";
import type { Logger } from "pino";
import { v7 as uuidv7 } from "uuid";
import type { ChildRequest, ExecutionResult } from "#contract";
import type { AdapterRegistry } from "../adapters/adapter-registry.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { CallbackGuard } from "../callbacks/callback-guard.ts";
import { BridgeError, type QueueOwner } from "../errors.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { ParsedDispatch } from "../requests/parse-dispatch.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import type { CallbackQueue, NewTask, Store } from "../store/store.ts";
import { isFinal, type Task, type TaskProgress, type TenantQuota, taskHandle } from "../task.ts";
import type { Workspaces } from "../workspaces/workspace.ts";
import { type AdapterCalls, createAdapterCalls } from "./adapter-calls.ts";
import { createAdmission, offlineText } from "./admission.ts";
import { createChildTasks } from "./child-tasks.ts";
import { createTaskDeletion } from "./delete-task.ts";
import { failedResult } from "./failed-result.ts";
import { type Claim, createLanes, type LaneTask } from "./lanes.ts";
import { describeEnd, type Run, runTask, type StopCode } from "./run-task.ts";
import { logTaskEnd } from "./task-end.ts";
import { createTaskEnds } from "./task-ends.ts";

/** What the dispatcher works with. */
export interface DispatcherOptions {
  store: Store;
  eventLog: EventLog;
  approvals: Pick<Approvals, "ask">;
  registry: AdapterRegistry;
  workspaces: Workspaces;
  guard: CallbackGuard;
  schemas: Pick<SchemaChecker, "findSchemaFault" | "findObject">;
  metrics: Metrics;
  logger: Logger;
  /** A task has ended and owes a callback to this origin. */
  onCallbackDue(queue: CallbackQueue): void;
  maxConcurrent(provider: string): number;
  queueLimit: number;
  quotaOf(tenant: string): TenantQuota;
  idleSeconds: number;
  drainSeconds: number;
  mcpCommands: readonly string[];
  /** Adapters that come with Bridge, loaded or not; only for messages. */
  shipped?: readonly string[];
  /** How long a stopped runtime may take to be gone; longer than SIGTERM, 5 s, SIGKILL and the sweep take together. */
  stopGraceMs?: number;
  /** How long the ends of stopped tasks may take to become durable while Bridge stops. */
  lastWritesMs?: number;
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
export interface Dispatcher extends AdapterCalls {
  /** Ends what a crash cut off. Call it once, before the registry starts and anything is accepted. */
  recover(): Promise<void>;
  /** Stores the task, or finds the one that has its id. Throws BridgeError. */
  accept(dispatch: ParsedDispatch, caller: Caller): Promise<{ task: Task; replayed: boolean }>;
  /** Stops a task and its children; `changed` is false when it had ended before. */
  cancel(tenant: string, taskId: string): Promise<{ task: TaskProgress; changed: boolean }>;
  /** Deletes a task that has ended, with its children and everything that is stored of them. Throws BridgeError: not_found, invalid_state. */
  deleteTask(tenant: string, taskId: string): Promise<void>;
  /** The task, without its result, as it stands when it has ended, the time is over, or the signal is aborted. */
  waitForEnd(task: TaskProgress, timeoutMs: number, signal?: AbortSignal): Promise<TaskProgress>;
  /** Runs a task for another one, to its end. */
  runChild(request: ChildRequest): Promise<ExecutionResult>;
  /** The adapter's health is known: what waits for it starts, or ends when it is offline. */
  onAdapterChecked(provider: string): void;
  load(provider: string): Load;
  /** Whether a limit on the running tasks of its tenant or agent prevents the start of a queued task. */
  isHeldByQuota(task: LaneTask): boolean;
  /** The quotas of tenants have changed. Starts tasks that were waiting for a quota. */
  onQuotasChanged(): void;
  readonly draining: boolean;
  /** Accepts nothing new, lets running tasks end in their time, then stops them. */
  drain(): Promise<void>;
}

const STOP_GRACE_MS = 15_000;
const LAST_WRITES_MS = 3_000;
/** Failures that may mean that the runtime itself is in trouble. */
const suspicious = new Set(["adapter_offline", "adapter_error", "authentication_required", "runtime_crashed", "spawn_failed"]);

const queueFullText: Readonly<Record<QueueOwner, string>> = {
  bridge: "Bridge's queue is full, and this tenant already has its fair share of it. Try again later.",
  tenant: "The tenant's queue is full: its limit of queued tasks is reached. Try again later.",
  agent: "The agent's queue is full: its limit of queued tasks is reached. Try again later.",
};

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, eventLog, registry, workspaces, metrics, logger, stopGraceMs = STOP_GRACE_MS, lastWritesMs = LAST_WRITES_MS } = options;
  const lanes = createLanes(options);
  const runs = new Map<string, Run>();
  /** By the number of their task, until nothing of them is left on this machine: longer than they are in `runs`. */
  const unreleased = new Map<number, Promise<void>>();
  /** From the claim to the free slot; a claim under way is not a run yet. */
  const stories = new Set<Promise<void>>();
  /** Cancels of queued tasks that are being written, by the number of the task. */
  const cancelingQueued = new Map<number, Promise<Task | null>>();
  const ends = createTaskEnds(store);
  const admission = createAdmission(options);
  const children = createChildTasks({ store, runs, admission, ends, enqueue });
  let draining = false;

  // --- accept ---------------------------------------------------------------------------------------------------------

  async function accept(dispatch: ParsedDispatch, { tenant, traceparent }: Caller): Promise<{ task: Task; replayed: boolean }> {
    const known = dispatch.taskId === null ? null : await store.findStoredTask(tenant, dispatch.taskId);
    if (known !== null) return replay(known.task, dispatch);
    refuseWhileDraining();
    const { request, agentId, fingerprint } = dispatch;
    const provider = admission.chooseProvider(dispatch, tenant);
    await admission.check(request, { tenant, agentId, provider });
    // Admission may have looked up a name.
    refuseWhileDraining();
    refuseWhileFull({ tenant, agentId });
    const taskId = dispatch.taskId ?? uuidv7();
    const { task, inserted } = await enqueue({ tenant, taskId, parent: null, agentId, provider, request, fingerprint, traceparent });
    return inserted ? { task, replayed: false } : replay(task, dispatch);
  }

  function refuseWhileDraining(): void {
    if (draining) throw new BridgeError("draining", "Bridge is stopping and accepts no new tasks.");
  }

  function refuseWhileFull(task: Pick<LaneTask, "tenant" | "agentId">): void {
    const queue = lanes.findFullQueue(task);
    if (queue === null) return;
    metrics.queueFull.inc({ queue });
    throw new BridgeError("queue_full", queueFullText[queue], { queue });
  }

  function replay(task: Task, dispatch: ParsedDispatch): { task: Task; replayed: boolean } {
    if (task.fingerprint === dispatch.fingerprint) return { task, replayed: true };
    throw new BridgeError("task_conflict", "Another request has this taskId already; a repeat must be the same request.", {
      errors: [{ path: "taskId", message: "is taken by a different request; use a new taskId" }],
    });
  }

  /** Stores a task in the queue of its lane; where a slot is free, its start rides the same commit. */
  async function enqueue(task: NewTask): Promise<{ task: Task; inserted: boolean }> {
    const waiting = { ...task, parentTaskId: task.parent?.taskId ?? null };
    lanes.enqueued(waiting);
    const inserting = store.insertTaskIfAbsent(task);
    fill(task.provider);
    let inserted = false;
    try {
      const answer = await inserting;
      inserted = answer.inserted;
      return answer;
    } finally {
      if (!inserted) lanes.dequeued(waiting);
    }
  }

  // --- run ------------------------------------------------------------------------------------------------------------

  /** Makes a claim for each free slot and task that may start; none before the adapter has answered for the first time. */
  function fill(provider: string): void {
    if ((registry.get(provider)?.health.checkedAt ?? null) === null) return;
    for (let claim = lanes.claim(provider); claim !== null; claim = lanes.claim(provider)) {
      // Only a closed store ends here: what is cut off now is dealt with at the next start.
      const story = startNext(claim)
        .catch((error: unknown) => logger.error({ err: error, provider }, "task run aborted by an unexpected error"))
        .finally(() => stories.delete(story));
      stories.add(story);
    }
  }

  function fillAll(providers: Iterable<string>): void {
    for (const provider of providers) fill(provider);
  }

  async function startNext(claim: Claim): Promise<void> {
    const task = await store.startNextTaskIfQueued(claim.filter);
    if (task === null) return fillAll(lanes.missed(claim));
    fillAll(lanes.started(claim, task));
    await tellStory(task);
    fillAll(lanes.released(task));
  }

  /** From the claim to the free slot. */
  async function tellStory(task: Task): Promise<void> {
    const handle = taskHandle(task);
    const entry = registry.get(task.provider);
    if (entry === undefined || entry.adapter === null || entry.health.status === "offline") {
      await settle(await store.finishTaskIfRunning(task, describeEnd(task, offlineResult(task.provider))));
      return;
    }
    const run = runTask(task, {
      store,
      eventLog,
      workspaces,
      metrics,
      adapter: entry.adapter,
      schemas: options.schemas,
      idleSeconds: options.idleSeconds,
      stopGraceMs,
      onBug: (error) =>
        logger.error({ err: error, taskId: task.taskId, tenant: task.tenant, provider: task.provider }, "an adapter broke its contract"),
    });
    runs.set(handle, run);
    unreleased.set(
      task.seq,
      run.released.then(() => void unreleased.delete(task.seq)),
    );
    metrics.executionsInFlight.inc({ provider: task.provider });
    const ended = await run.ended;
    if (ended === null) lanes.enqueued(task);
    await settle(ended);
    await run.gone;
    runs.delete(handle);
    metrics.executionsInFlight.dec({ provider: task.provider });
  }

  /** What follows the end of a task: its log line, its numbers, its callback, everyone who waits for it, its children. */
  async function settle(task: Task | null): Promise<void> {
    if (task === null) return;
    logTaskEnd(task, { logger, metrics });
    const { tenant, request } = task;
    if (request.callbackUrl !== undefined) options.onCallbackDue({ tenant, origin: new URL(request.callbackUrl).origin });
    ends.announce(task);
    if (suspicious.has(task.result?.errorCode ?? "")) registry.suspect(task.provider);
    await cancelChildren(task);
  }

  // --- stop -----------------------------------------------------------------------------------------------------------

  async function cancel(tenant: string, taskId: string): Promise<{ task: TaskProgress; changed: boolean }> {
    const task = await store.findTaskProgress(tenant, taskId);
    if (task === null) throw new BridgeError("not_found", "There is no such task.");
    if (isFinal(task.state)) return { task, changed: false };
    if (task.state === "queued") {
      // A long request is read once, however many clients cancel the task at the same time.
      const earlier = cancelingQueued.get(task.seq);
      if (earlier !== undefined) await earlier.catch(() => {});
      else {
        const canceling = cancelQueued(task).finally(() => cancelingQueued.delete(task.seq));
        cancelingQueued.set(task.seq, canceling);
        const ended = await canceling;
        if (ended !== null) return { task: { ...task, state: ended.state }, changed: true };
      }
    }
    const stopped = await stopRunning(task, "cancelled", "The task was cancelled.");
    const now = (await store.findTaskProgress(tenant, taskId)) ?? task;
    // Its own end may have been first.
    return { task: now, changed: stopped || !isFinal(now.state) };
  }

  async function cancelQueued({ tenant, taskId }: TaskProgress): Promise<Task | null> {
    const task = await store.findTask(tenant, taskId);
    if (task?.state !== "queued") return null;
    return endQueued(task, failedResult("cancelled", "The task was cancelled before it started."), { patient: false });
  }

  async function stopRunning(task: TaskProgress, code: StopCode, reason: string): Promise<boolean> {
    let run = runs.get(taskHandle(task));
    // Between the commit of a claim and the run lie a few turns.
    while (run === undefined && (await store.findTaskProgress(task.tenant, task.taskId))?.state === "running") {
      await nextTurn();
      run = runs.get(taskHandle(task));
    }
    const stopped = run?.stop(code, reason) ?? false;
    await cancelChildren(task);
    return stopped;
  }

  async function cancelChildren(parent: Pick<TaskProgress, "seq">): Promise<void> {
    for (const child of await store.listUnfinishedChildren(parent.seq)) await cancel(child.tenant, child.taskId);
  }

  async function endQueued(task: Task, result: ExecutionResult, options?: { patient: boolean }): Promise<Task | null> {
    const ended = await store.finishTaskIfQueued(task, describeEnd(task, result), options);
    if (ended !== null) lanes.dequeued(task);
    await settle(ended);
    return ended;
  }

  async function endAllQueued(provider: string): Promise<void> {
    for (let task = await store.findQueuedTask(provider); task !== null; task = await store.findQueuedTask(provider)) {
      await endQueued(task, offlineResult(provider));
    }
  }

  function offlineResult(provider: string): ExecutionResult {
    return failedResult("adapter_offline", offlineText(provider, registry.get(provider) !== undefined));
  }

  async function drain(): Promise<void> {
    draining = true;
    lanes.startChildrenOnly();
    await withTimeout(endOfStories(), options.drainSeconds * 1000, () => {});
    for (const run of runs.values()) run.stop("bridge_shutdown", "Bridge was stopped while the task ran.");
    const ended = Promise.all([...runs.values()].map((run) => run.ended));
    // On a disk that takes no writes the ends wait: the next start finds the tasks running, and ends them.
    await withTimeout(ended, stopGraceMs + lastWritesMs, () => {});
  }

  /** The end of one may be the beginning of another: parents start children while Bridge drains. */
  async function endOfStories(): Promise<void> {
    while (stories.size > 0) await Promise.all(stories);
  }

  // --- start ----------------------------------------------------------------------------------------------------------

  async function recover(): Promise<void> {
    for (const task of await store.listInterruptedTasks()) {
      const result = failedResult("bridge_restarted", "Bridge was restarted while the task ran.");
      if (task.state === "queued") await settle(await store.finishTaskIfQueued(task, describeEnd(task, result)));
      else if (task.parentSeq !== null || task.request.onInterrupt === "fail" || !(await store.requeueTaskIfRunning(task)))
        await settle(await store.finishTaskIfRunning(task, describeEnd(task, result)));
    }
    for (const { count, ...waiting } of await store.countQueuedTasks()) lanes.enqueued({ ...waiting, parentTaskId: null }, count);
    for (const { provider } of lanes.all()) if (registry.get(provider) === undefined) await endAllQueued(provider);
  }

  return {
    recover,
    accept,
    cancel,
    deleteTask: createTaskDeletion({ store, unreleased, logger }),
    waitForEnd(task, timeoutMs, signal) {
      const time = AbortSignal.timeout(timeoutMs);
      return ends.wait(task, signal === undefined ? time : AbortSignal.any([time, signal]));
    },
    runChild: children.run,
    ...createAdapterCalls({ runs, children, approvals: options.approvals, metrics }),
    onAdapterChecked(provider) {
      if (registry.get(provider)?.health.status !== "offline") fill(provider);
      else void endAllQueued(provider).catch((error: unknown) => logger.error({ err: error, provider }, "queued tasks could not be ended"));
    },
    load: (provider) => {
      const { running, queued, maxConcurrent } = lanes.of(provider);
      return { running, queued, maxConcurrent };
    },
    isHeldByQuota: lanes.isHeldByQuota,
    onQuotasChanged() {
      lanes.quotasChanged();
      for (const { provider } of lanes.all()) fill(provider);
    },
    get draining() {
      return draining;
    },
    drain,
  };
}
