import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";

/** Deletes ended tasks with their child tasks and all their data. Prints the ids of the deleted tasks. */
export const run: Run<object> = async ({ args, output, signal, connect }) => {
  const { client } = connect();
  const deleted: { taskId: string }[] = [];
  for (const given of args)
    await withTaskId(given, { client, signal, hasEffect: true }, async (taskId) => {
      await client.deleteTask(taskId, { signal });
      deleted.push({ taskId });
      if (output.format !== "json") output.print(taskId);
    });
  if (output.format === "json") output.printJson(deleted);
  return undefined;
};
