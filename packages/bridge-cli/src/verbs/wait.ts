import { exitCodeOfTask } from "../exit-code-of.ts";
import { exitCodes } from "../exit-codes.ts";
import { printTable } from "../table.ts";
import { taskColumns } from "../task-columns.ts";
import type { Run } from "../verb.ts";
import { waitForTasks } from "../wait-for-tasks.ts";

interface Options {
  /** In seconds. */
  timeout?: number;
}

/** Waits for tasks, and prints them when all have ended. */
export const run: Run<Options> = async ({ args, options, output, signal, connect }) => {
  const { tasks, needsPerson, isOver } = await waitForTasks(args, { output, signal, connection: connect(), limitSeconds: options.timeout });
  printTable(output, tasks, taskColumns(output));
  if (!isOver) return tasks.map(exitCodeOfTask).find((code) => code !== exitCodes.done);
  output.note("The wait is over. Tasks that have not ended continue.");
  if (needsPerson) output.note("A task waits for an approval: brg approvals");
  return exitCodes.waitOver;
};
