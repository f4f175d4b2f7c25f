import { v7 as uuidv7 } from "uuid";
import { BridgeError, type QueueOwner } from "../../errors.ts";
import type { Metrics } from "../../metrics.ts";
import type { AvailableAdapters, Runner } from "../../registry/available-adapters.ts";
import type { ParsedDispatch } from "../../requests/parse-dispatch.ts";
import type { Store } from "../../store/store.ts";
import type { Task, TraceContext } from "../../task.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TaskQueue } from "../scheduler/task-queue.ts";
import { needsOf, type RequestCheck } from "./check-request.ts";
import type { SpendingCheck } from "./check-spending.ts";
import { type ChosenCandidate, createCandidateChoice } from "./choose-candidate.ts";
import { createProviderChoice } from "./choose-provider.ts";
import type { RepositoryChoice } from "./choose-repository.ts";

/** The sender of a dispatch. */
export interface Caller extends TraceContext {
  tenant: string;
  /** Name of its token; absent without a named one. */
  tokenName?: string | undefined;
}

interface AdmissionOptions {
  store: Store;
  adapters: AvailableAdapters;
  workspaces: Workspaces;
  checkRequest: RequestCheck;
  spending: SpendingCheck;
  repositoryChoice: RepositoryChoice;
  /** The id of the node on which an agent lives; null if its tasks may start on any node. */
  findPlace(tenant: string, agentId: string): Promise<string | null>;
  metrics: Metrics;
  scheduler: Scheduler;
  enqueue: TaskQueue["enqueue"];
  /** Whether Bridge is stopping and no other node would run a new task. */
  isRefusing(): boolean;
  /** Adapters that are part of Bridge, loaded or not. Error messages name them. */
  catalogProviders?: readonly string[];
}

const queueFullText: Readonly<Record<QueueOwner, string>> = {
  bridge: "Bridge's queue is full, and this tenant already has its fair share of it. Try again later.",
  tenant: "The tenant's queue is full: its limit of queued tasks is reached. Try again later.",
  agent: "The agent's queue is full: its limit of queued tasks is reached. Try again later.",
};

/** Creates the admission control: it decides which dispatches become queued tasks, and rejects the others with a BridgeError. */
export function createAdmission(options: AdmissionOptions) {
  const { store, spending, repositoryChoice, metrics, scheduler, enqueue, isRefusing } = options;
  const chooseProvider = createProviderChoice(options);
  const chooseCandidate = createCandidateChoice(options);

  /** Enqueues a task for the dispatch, or returns the task that the same dispatch created earlier. */
  async function admitTask(dispatch: ParsedDispatch, caller: Caller): Promise<{ task: Task; replayed: boolean }> {
    // Until its insert finds the earlier task, a repeated dispatch counts as queued, and unneeded slots would be claimed for it.
    const isLookedUp = hasSlowChecks(dispatch) || scheduler.isSlotAwaited();
    const earlier = isLookedUp ? await findEarlierTask(dispatch, caller.tenant) : null;
    if (earlier !== null) return replay(earlier, dispatch);
    let stored: { task: Task; inserted: boolean };
    try {
      stored = await checkAndEnqueue(dispatch, caller);
    } catch (error) {
      // A repeated dispatch is not rejected. If all checks pass, the insert finds the earlier task, so that most dispatches need no lookup.
      const task = await findEarlierTask(dispatch, caller.tenant);
      if (task === null) throw countIfQueueIsFull(error);
      stored = { task, inserted: false };
    }
    return stored.inserted ? { task: stored.task, replayed: false } : replay(stored.task, dispatch);
  }

  /**
   * Checks a dispatch as `admitTask` does, and stores nothing. `runner` is null if the dispatch repeats an earlier one, whose task it would
   * find.
   */
  async function checkTask(
    dispatch: ParsedDispatch,
    caller: Omit<Caller, keyof TraceContext>,
  ): Promise<Pick<ChosenCandidate, "provider" | "request"> & { runner: Runner | null; replayed: boolean }> {
    const earlier = await findEarlierTask(dispatch, caller.tenant);
    if (earlier !== null) {
      const { provider, request } = replay(earlier, dispatch).task;
      return { provider, request, runner: null, replayed: true };
    }
    return { ...(await checkDispatch(dispatch, caller, dispatch.taskId ?? uuidv7())), replayed: false };
  }

  async function findEarlierTask({ taskId }: ParsedDispatch, tenant: string): Promise<Task | null> {
    return taskId === null ? null : ((await store.findStoredTask(tenant, taskId))?.task ?? null);
  }

  async function checkAndEnqueue(dispatch: ParsedDispatch, caller: Caller): Promise<{ task: Task; inserted: boolean }> {
    const { agentId, fingerprint } = dispatch;
    const { tokenName, ...sender } = caller;
    const taskId = dispatch.taskId ?? uuidv7();
    const { provider, ...resolved } = await checkDispatch(dispatch, caller, taskId);
    const { request } = resolved;
    const owner = { tenant: caller.tenant, agentId, provider, tokenName };
    const asks = spending.isLimited() ? await spending.listAsks(request, owner) : undefined;
    const task = { ...sender, taskId, parent: null, agentId, provider, needs: needsOf(request), asks, request, fingerprint };
    return await (request.repository === undefined ? enqueue(task) : repositoryChoice.reserve(resolved, task, () => enqueue(task)));
  }

  async function checkDispatch(
    dispatch: ParsedDispatch,
    { tenant, tokenName }: Omit<Caller, keyof TraceContext>,
    taskId: string,
  ): Promise<ChosenCandidate & { continuesBranch: boolean }> {
    rejectWhileRefusing();
    const { agentId } = dispatch;
    const named = chooseProvider(dispatch, tenant);
    const place = await options.findPlace(tenant, agentId);
    const repository = repositoryChoice.find(dispatch.repository, { tenant, taskId, agentId, place });
    const asked = repository === undefined ? dispatch.request : { ...dispatch.request, repository };
    const chosen = await chooseCandidate(asked, { tenant, agentId, provider: named, place });
    const { provider, request, runner } = chosen;
    const owner = { tenant, agentId, provider, tokenName };
    if (request.budget !== undefined || spending.isLimited()) await spending.check(request, owner, runner.capabilities);
    const isResolved = repository === undefined;
    const resolved = isResolved ? { request, continuesBranch: false } : await repositoryChoice.resolve(request, { tenant, taskId });
    // The checks may have waited for a host lookup, or for a fetch of the repository.
    rejectWhileRefusing();
    rejectIfQueueIsFull({ tenant, agentId });
    return { ...chosen, ...resolved };
  }

  function rejectWhileRefusing(): void {
    if (isRefusing()) throw new BridgeError("draining", "Bridge is stopping and accepts no new tasks. Try again later.");
  }

  function rejectIfQueueIsFull(owner: { tenant: string; agentId: string }): void {
    const queue = scheduler.findFullQueue(owner);
    if (queue !== null) throw new BridgeError("queue_full", queueFullText[queue], { queue });
  }

  function countIfQueueIsFull(error: unknown): unknown {
    if (error instanceof BridgeError && error.queue !== null) metrics.queueFull.inc({ queue: error.queue });
    return error;
  }

  return { admitTask, checkTask };
}

/**
 * Whether the checks of a dispatch wait for a host lookup, a worker thread or a fetch. A repeated dispatch must get its response without
 * them.
 */
const hasSlowChecks = ({ repository, request: { mcpServers = [], outputStrategy } }: ParsedDispatch): boolean =>
  mcpServers.length > 0 || outputStrategy.type === "structured" || repository !== null;

/** Returns the task of an earlier dispatch. Throws BridgeError `task_conflict` if that dispatch was another one. */
function replay(task: Task, dispatch: ParsedDispatch): { task: Task; replayed: boolean } {
  if (task.fingerprint === dispatch.fingerprint) return { task, replayed: true };
  throw new BridgeError("task_conflict", `A task with the taskId ${task.taskId} exists, and its request differs from this one.`, {
    errors: [{ path: "taskId", message: "is taken by a different request; use a new taskId" }],
  });
}
