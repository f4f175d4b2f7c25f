import type { Task } from "bridge-client";
import type { Connection } from "./connection.ts";
import type { Output } from "./output.ts";
import { withTaskId } from "./with-task-id.ts";

/** Result of a wait. */
export interface Wait {
  /** In the order of the ids. */
  tasks: Task[];
  /** The limit was reached first. */
  isOver: boolean;
  /** A task waits for a decision on an approval. */
  needsPerson: boolean;
}

/** Waits until all tasks have ended, or for a limited time. Rejects at once if one does not exist. */
export async function waitForTasks(
  given: readonly string[],
  {
    connection,
    output,
    signal,
    limitSeconds,
  }: { connection: Connection; output: Output; signal: AbortSignal; limitSeconds?: number | undefined },
): Promise<Wait> {
  const { client, follower } = connection;
  const current = await Promise.all(given.map((id) => withTaskId(id, { client, signal }, (taskId) => client.getTask(taskId, { signal }))));
  const taskIds = current.map(({ taskId }) => taskId);
  let ended = current.filter(isEnded).length;
  if (ended < taskIds.length) output.note(`Waiting for ${taskIds.length - ended} task(s).`);
  if (ended < taskIds.length) output.status.show(() => `waiting for ${taskIds.length - ended} of ${taskIds.length} task(s)`);
  const limit = new AbortController();
  const timer = limitSeconds === undefined ? undefined : setTimeout(() => limit.abort(), limitSeconds * 1000);
  const waitSignal = AbortSignal.any([signal, limit.signal]);
  try {
    await Promise.all(
      current.map(async (task) => {
        if (isEnded(task)) return;
        await follower.waitForTask(task.taskId, { signal: waitSignal });
        ended += 1;
      }),
    );
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    output.status.clear();
  }
  const tasks = await Promise.all(taskIds.map((taskId) => client.getTask(taskId, { signal })));
  const isOver = !tasks.every(isEnded);
  return { tasks, isOver, needsPerson: isOver && tasks.some(({ waitingOn }) => waitingOn === "approval") };
}

const isEnded = ({ state }: Task): boolean => state !== "queued" && state !== "running";
