import { v7 as uuidv7 } from "uuid";
import type { ChildRequest, ExecutionResult } from "#contract";
import { BridgeError } from "../../errors.ts";
import type { EventLog } from "../../events/event-log.ts";
import { failedResult } from "../../results/failed-result.ts";
import type { Store } from "../../store/store.ts";
import type { Task, TaskRequest } from "../../task.ts";
import type { RequestCheck } from "../admission/check-request.ts";
import type { SpendingCheck } from "../admission/check-spending.ts";
import type { RepositoryChoice } from "../admission/choose-repository.ts";
import { toRejectedResult } from "../admission/describe-rejection.ts";
import type { TaskQueue } from "../scheduler/task-queue.ts";
import type { Run, RunOptions } from "./run-task.ts";
import type { RunningTasks } from "./running-tasks.ts";
import { waitForEnd } from "./wait-for-end.ts";

interface RunChildTaskOptions {
  store: Store;
  eventLog: EventLog;
  running: RunningTasks;
  checkRequest: RequestCheck;
  spending: SpendingCheck;
  repositoryChoice: RepositoryChoice;
  enqueue: TaskQueue["enqueue"];
  /** The id of this node, which runs the children of its tasks. */
  ownNode: string;
  /** The trace context of a child. */
  runTraceparent: RunOptions["runTraceparent"];
}

const CHILD_TIMEOUT_SECONDS = 600;

/** Creates the function that runs a child task of a running task. A child is an ordinary task, under the limits of its adapter. */
export function createRunChildTask(options: RunChildTaskOptions) {
  const { store, eventLog, running, checkRequest, spending, repositoryChoice, enqueue, ownNode, runTraceparent } = options;

  /** The budgets that limit an ancestor. They count what its children spend, so a child asks nothing of them. */
  async function listInherited(parent: Run): Promise<string[]> {
    const names: string[] = [];
    if (!spending.isLimited()) return names;
    for (let run: Run | undefined = parent; run !== undefined; run = running.findParent(run.task))
      names.push(...(await store.listTaskBudgets(run.task.seq)));
    return names;
  }

  /** Returns the child's result; a rejected request is a failed result. Rejects only if the parent is not running. */
  return async (child: ChildRequest): Promise<ExecutionResult> => {
    const parentRun = running.find(child.parentTaskId);
    if (parentRun === undefined) throw new Error(`Task ${child.parentTaskId} is not running, so it cannot start a child task.`);
    if (parentRun.isOver) return parentHasEnded();
    const { task: parent } = parentRun;
    const { tenant } = parent;
    const { provider, agentId = parent.agentId } = child;
    const owner = { tenant, agentId, provider, place: ownNode };
    for (let run: Run | undefined = parentRun; run !== undefined; run = running.findParent(run.task))
      if (run.provider === provider) return failedResult("adapter_error", sameAdapterText(provider));
    const taskId = uuidv7();
    const repository = child.repository === undefined ? undefined : repositoryChoice.find(child.repository, { ...owner, taskId });
    const asked = { ...toTaskRequest(child, parent.request, parentRun.remainingMs()), ...(repository !== undefined && { repository }) };
    let task: Task;
    try {
      const isInTree = repository === undefined && parentRun.tree() !== null;
      const { capabilities } = await checkRequest(asked, { ...owner, isInTree });
      await spending.check(asked, owner, capabilities);
      const asks = await spending.listAsks(asked, owner, await listInherited(parentRun));
      const resolved = await repositoryChoice.resolve(asked, { tenant, taskId });
      // During the check the parent may have been stopped, and its children with it.
      if (parentRun.isOver) return parentHasEnded();
      parentRun.hasChildren = true;
      const newTask = {
        ...{ tenant, taskId, parent, agentId, provider, request: resolved.request, asks, fingerprint: "", needs: [] },
        ...{ traceparent: runTraceparent(parent), tracestate: parent.tracestate },
      };
      ({ task } = await repositoryChoice.reserve(resolved, newTask, () => enqueue(newTask)));
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return error.code === "budget_exhausted" ? failedResult("budget_exceeded", error.message) : toRejectedResult(error);
    }
    await waitForEnd({ store, eventLog }, task);
    return (await store.findTask(tenant, task.taskId))?.result as ExecutionResult;
  };
}

/** Builds the request of a child. It has no more permissions than its parent, and no more time than its parent has left. */
function toTaskRequest(child: ChildRequest, parent: TaskRequest, remainingMs: number): TaskRequest {
  const { message, systemPrompt, model, resumeToken, reasoningLevel, metadata, outputStrategy = { type: "stream" } } = child;
  const secondsLeft = Math.max(1, Math.ceil(remainingMs / 1000));
  return {
    message,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(model !== undefined && { model }),
    ...(resumeToken !== undefined && { resumeToken }),
    ...(reasoningLevel !== undefined && { reasoningLevel }),
    ...(metadata !== undefined && { metadata }),
    timeoutSeconds: Math.min(child.timeoutSeconds ?? CHILD_TIMEOUT_SECONDS, secondsLeft),
    outputStrategy,
    profile: parent.profile === "inspect" ? "inspect" : (child.profile ?? "modify"),
    approvals: parent.approvals,
    // An interruption of the child is an interruption of its parent too, and the parent starts new children.
    onInterrupt: "fail",
  };
}

const sameAdapterText = (provider: string): string =>
  `A task of ${provider} cannot wait for a child of the same adapter, because it may hold the slot that the child needs. Use another provider.`;

const parentHasEnded = (): ExecutionResult => failedResult("cancelled", "The parent task has ended or is being stopped.");
