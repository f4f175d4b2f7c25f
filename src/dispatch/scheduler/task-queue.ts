import type { Logger } from "pino";
import type { Store } from "../../store/store.ts";
import type { NewTask } from "../../store/tasks/interface.ts";
import { readLateOutcome, UnconfirmedWriteError } from "../../store/writes.ts";
import type { Task } from "../../task.ts";
import type { LaneTask } from "./lane-task.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Claim } from "./slots.ts";
import { createStartedTasks } from "./started-tasks.ts";

interface TaskQueueOptions {
  store: Store;
  scheduler: Scheduler;
  logger: Logger;
  /** The tags of this node, which tasks may need. */
  tags: readonly string[];
  /** Whether tasks of the adapter may start on this node. */
  mayStart(provider: string): boolean;
  /** Runs a task that the store has marked as running. Resolves when its slot is free. */
  runTask(task: Task): Promise<void>;
}

/** A stored task, and whether this write has stored it. */
interface InsertedTask {
  task: Task;
  inserted: boolean;
}

const isStarted = ({ task, inserted }: InsertedTask): boolean => inserted && task.state === "running";

/** A write that stores a task as running. */
interface Arrival {
  /** Whether it has stored the task as queued instead, because this node may not start it at the moment. */
  isRefused: boolean;
}

export type TaskQueue = ReturnType<typeof createTaskQueue>;

/** Creates the queue: it stores tasks, and starts them when their adapter has a free slot. */
export function createTaskQueue({ store, scheduler, logger, tags, mayStart, runTask }: TaskQueueOptions) {
  /** From the claim of a slot to its release. */
  const startedRuns = new Set<Promise<void>>();
  const { pending, held, isHeld, waitForPendingStarts, waitUntilStarted } = createStartedTasks();

  /** Stores a task. If it is the next one to start and a slot is free, the same write starts it. Returns the task as it was accepted. */
  async function enqueue(task: NewTask): Promise<InsertedTask> {
    const { tenant, agentId, provider } = task;
    const arriving = { tenant, agentId, provider, parentTaskId: task.parent?.taskId ?? null };
    if (!task.needs.every((tag) => tags.includes(tag))) return enqueueForOthers(task, arriving);
    scheduler.addArriving(arriving);
    const claim = claimSlot(provider);
    // Only the claim of a stored task finds out whether its resume token is in use.
    const starts = claim !== null && task.request.resumeToken === undefined && scheduler.isClaimFor(claim, arriving);
    const inserting = store.insertTaskIfAbsent(task, { starts, limits: claim?.filter.limits });
    if (claim !== null && starts) {
      const arrival = { isRefused: false };
      const toStarted = (result: InsertedTask): Task | null => {
        if (isStarted(result)) return result.task;
        arrival.isRefused = result.inserted;
        return null;
      };
      // The caller gets the error of an insert that fails. If it was not confirmed, the task may still have been stored as running.
      const later = async (error: unknown): Promise<Task | null> => {
        const result = await readLateOutcome<InsertedTask>(error);
        return result === null ? null : toStarted(result);
      };
      void holdSlot(claim, inserting.then(toStarted, later), arrival);
    } else if (claim !== null) void holdSlot(claim, store.startNextTaskIfQueued(claim.filter));
    fillSlots(provider);
    try {
      const result = await inserting;
      settleArrival(arriving, result);
      return isStarted(result) ? { inserted: true, task: { ...result.task, state: "queued", startedAt: null } } : result;
    } catch (error) {
      if (error instanceof UnconfirmedWriteError) void readLateOutcome<InsertedTask>(error).then((late) => settleArrival(arriving, late));
      else settleArrival(arriving, null);
      throw error;
    }
  }

  /** Null: the task was not stored. The claim of a task that was stored as running settles its arrival. */
  function settleArrival(arriving: LaneTask, result: InsertedTask | null): void {
    if (result === null || !result.inserted) scheduler.settleArrival(arriving, "absent");
    else if (!isStarted(result)) scheduler.settleArrival(arriving, scheduler.isElsewhere(result.task) ? "elsewhere" : "here");
  }

  /** Stores a task that needs another node. */
  async function enqueueForOthers(task: NewTask, arriving: LaneTask): Promise<InsertedTask> {
    const result = await store.insertTaskIfAbsent(task);
    if (result.inserted) scheduler.addElsewhere(arriving);
    return result;
  }

  /** Starts tasks while the adapter has a free slot and a task that may start. */
  function fillSlots(provider: string): void {
    for (let claim = claimSlot(provider); claim !== null; claim = claimSlot(provider))
      void holdSlot(claim, store.startNextTaskIfQueued(claim.filter));
  }

  /** Reserves a slot for the next task; null if none may start. */
  function claimSlot(provider: string): Claim | null {
    return mayStart(provider) ? scheduler.claimSlot(provider) : null;
  }

  /** Runs the task that is being stored as running, if any, until its slot is free. */
  async function holdSlot(claim: Claim, starting: Promise<Task | null>, arrival: Arrival | null = null): Promise<void> {
    const run = runStarted(claim, starting, arrival);
    startedRuns.add(run);
    try {
      await run;
    } catch (error) {
      // Such as a closed store. The next start of Bridge recovers the task.
      logger.error({ err: error, provider: claim.filter.provider }, "task run aborted by an unexpected error");
    } finally {
      startedRuns.delete(run);
    }
  }

  async function runStarted(claim: Claim, starting: Promise<Task | null>, arrival: Arrival | null = null): Promise<void> {
    pending.add(starting);
    let task: Task | null;
    try {
      task = await starting;
    } catch (error) {
      scheduler.withdrawClaim(claim);
      throw error;
    } finally {
      pending.delete(starting);
    }
    if (task === null) return fillAllSlots(scheduler.withdrawClaim(claim, { blocks: arrival?.isRefused !== true }));
    held.add(task);
    fillAllSlots(scheduler.confirmStart(claim, task, { isArrival: arrival !== null }));
    try {
      await runTask(task);
    } catch (error) {
      scheduler.releaseSlot(task);
      throw error;
    } finally {
      held.delete(task);
    }
    fillAllSlots(scheduler.releaseSlot(task));
  }

  function fillAllSlots(providers: Iterable<string>): void {
    for (const provider of providers) fillSlots(provider);
  }

  /** Resolves when no task runs. A task that ends may free the slot for the next one, for example a child. */
  async function waitUntilIdle(): Promise<void> {
    while (startedRuns.size > 0) await Promise.allSettled(startedRuns);
  }

  return { enqueue, fillSlots, waitUntilIdle, waitUntilStarted, isHeld, waitForPendingStarts };
}
