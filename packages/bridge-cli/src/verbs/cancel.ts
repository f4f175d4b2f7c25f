import { exitCodeOfTask } from "../exit-code-of.ts";
import { exitCodes } from "../exit-codes.ts";
import { printTable } from "../table.ts";
import { taskColumns } from "../task-columns.ts";
import type { Run } from "../verb.ts";
import { waitForTasks } from "../wait-for-tasks.ts";
import { withTaskId } from "../with-task-id.ts";

/** Cancels tasks, and waits for their end. A task that was canceled is a success. */
export const run: Run<object> = async ({ args, output, signal, connect }) => {
  const connection = connect();
  const { client } = connection;
  const taskIds: string[] = [];
  for (const given of args)
    taskIds.push((await withTaskId(given, { client, signal, hasEffect: true }, (taskId) => client.cancel(taskId, { signal }))).taskId);
  const { tasks } = await waitForTasks(taskIds, { connection, output, signal });
  printTable(output, tasks, taskColumns(output));
  return tasks.map(exitCodeOfTask).find((code) => code !== exitCodes.done && code !== exitCodes.canceled);
};
