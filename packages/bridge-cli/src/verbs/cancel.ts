import { exitCodeOfTask } from "../exit-code-of.ts";
import { exitCodes } from "../exit-codes.ts";
import { nameTask } from "../name-task.ts";
import { printTable } from "../table.ts";
import { taskColumns } from "../task-columns.ts";
import type { Run } from "../verb.ts";
import { waitForTasks } from "../wait-for-tasks.ts";

/** Cancels tasks, and waits for their end. A task that was canceled is a success. */
export const run: Run<object> = async ({ args, output, signal, connect }) => {
  const connection = connect();
  for (const taskId of args) await nameTask(taskId, connection.client.cancel(taskId, { signal }));
  const { tasks } = await waitForTasks(args, { connection, output, signal });
  printTable(output, tasks, taskColumns(output));
  return tasks.map(exitCodeOfTask).find((code) => code !== exitCodes.done && code !== exitCodes.canceled);
};
