import { v7 as uuidv7 } from "uuid";
import type { ChildRequest, ExecutionResult } from "#contract";
import { BridgeError } from "../errors.ts";
import { failedResult } from "../results/failed-result.ts";
import type { NewTask, Store } from "../store/store.ts";
import { type Task, taskHandle } from "../task.ts";
import type { Admission } from "./admission.ts";
import { toTaskRequest } from "./child-request.ts";
import type { Run } from "./run-task.ts";
import type { TaskEnds } from "./task-waiters.ts";

/** Tasks that tasks run. */
export interface ChildTasks {
  /** Runs a child to its end; what is refused is a result. Rejects only when the parent is not running. */
  run(child: ChildRequest): Promise<ExecutionResult>;
  /** The runs that a task belongs to, from its parent upwards. */
  ancestorsOf(task: Task): Run[];
}

/** What children are made with. */
export interface ChildTasksOptions {
  store: Pick<Store, "findTask">;
  /** All runs, by the handle of their task. */
  runs: ReadonlyMap<string, Run>;
  admission: Admission;
  ends: TaskEnds;
  enqueue(task: NewTask): Promise<{ task: Task; inserted: boolean }>;
}

/** Lets running tasks have children: ordinary tasks, under the limits of their own adapter. */
export function createChildTasks({ store, runs, admission, ends, enqueue }: ChildTasksOptions): ChildTasks {
  async function run(child: ChildRequest): Promise<ExecutionResult> {
    const parentRun = runs.get(child.parentTaskId);
    if (parentRun === undefined) throw new Error(`No running task ${child.parentTaskId} can have a child.`);
    if (parentRun.isOver) return parentIsOver();
    const { task: parent } = parentRun;
    const { tenant, traceparent } = parent;
    const { provider, agentId = parent.agentId } = child;
    if ([parentRun, ...ancestorsOf(parent)].some((ancestor) => ancestor.task.provider === provider)) {
      const error = `A task of ${provider} cannot wait for a child of the same adapter: it may hold the slot that the child needs.`;
      return failedResult("adapter_error", error);
    }
    const request = toTaskRequest(child, parent.request, parentRun.remainingMs());
    try {
      await admission.check(request, { tenant, agentId, provider });
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return failedResult(error.code === "adapter_offline" ? "adapter_offline" : "adapter_error", toText(error));
    }
    // It may have been stopped meanwhile, and its children with it.
    if (parentRun.isOver) return parentIsOver();
    const { task } = await enqueue({ tenant, taskId: uuidv7(), parent, agentId, provider, request, fingerprint: "", traceparent });
    await ends.wait(task);
    return (await store.findTask(tenant, task.taskId))?.result as ExecutionResult;
  }

  function ancestorsOf({ tenant, parentTaskId }: Task): Run[] {
    const parent = parentTaskId === null ? undefined : runs.get(taskHandle({ tenant, taskId: parentTaskId }));
    return parent === undefined ? [] : [parent, ...ancestorsOf(parent.task)];
  }

  return { run, ancestorsOf };
}

/** A result has no place for the faults of single fields but its text. */
const toText = ({ message, errors }: BridgeError): string =>
  [message, ...errors.map((fault) => `${fault.path} ${fault.message}.`)].join(" ");

const parentIsOver = (): ExecutionResult => failedResult("cancelled", "The parent has ended or is being stopped.");
