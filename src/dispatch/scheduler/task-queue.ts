import type { Store } from "../../store/store.ts";
import type { NewTask } from "../../store/tasks/interface.ts";
import { readLateOutcome, UnconfirmedWriteError } from "../../store/writes.ts";
import type { Task } from "../../task.ts";
import type { LaneTask } from "./lane-task.ts";
import { type Arrival, createSlotRuns, type SlotRunOptions } from "./slot-runs.ts";

interface TaskQueueOptions extends SlotRunOptions {
  store: Store;
  /** The tags of this node, which tasks may need. */
  tags: readonly string[];
}

/** A stored task, and whether this write has stored it. */
interface InsertedTask {
  task: Task;
  inserted: boolean;
}

const isStarted = ({ task, inserted }: InsertedTask): boolean => inserted && task.state === "running";

export type TaskQueue = ReturnType<typeof createTaskQueue>;

/** Creates the queue: it stores tasks, and starts them when their adapter has a free slot. */
export function createTaskQueue(options: TaskQueueOptions) {
  const { store, scheduler, tags } = options;
  const { claimSlot, holdSlot, fillSlots, ...runs } = createSlotRuns(options);

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
      const arrival: Arrival = { isRefused: false };
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
      reportArrival(arriving, result);
      return isStarted(result) ? { inserted: true, task: { ...result.task, state: "queued", startedAt: null } } : result;
    } catch (error) {
      if (error instanceof UnconfirmedWriteError) void readLateOutcome<InsertedTask>(error).then((late) => reportArrival(arriving, late));
      else reportArrival(arriving, null);
      throw error;
    }
  }

  /** Null: the task was not stored. The claim of a task that was stored as running ends its arrival. */
  function reportArrival(arriving: LaneTask, result: InsertedTask | null): void {
    if (result === null || !result.inserted) scheduler.endArrival(arriving, "absent");
    else if (!isStarted(result)) scheduler.endArrival(arriving, scheduler.isElsewhere(result.task) ? "elsewhere" : "here");
  }

  /** Stores a task that needs another node. */
  async function enqueueForOthers(task: NewTask, arriving: LaneTask): Promise<InsertedTask> {
    const result = await store.insertTaskIfAbsent(task);
    if (result.inserted) scheduler.addElsewhere(arriving);
    return result;
  }

  return { enqueue, fillSlots, ...runs };
}
