import { callbackColumns } from "../callback-columns.ts";
import { CommandError } from "../command-error.ts";
import { printTable } from "../table.ts";
import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";

interface Options {
  dead?: boolean;
  origin?: string;
}

/** Starts a new round of attempts for one dead callback, or for all dead callbacks of a receiver. */
export const run: Run<Options> = async ({ args: [taskId], options: { dead = false, origin }, output, signal, connect }) => {
  if (dead !== (origin !== undefined) || dead === (taskId !== undefined))
    throw new CommandError("usage", "redeliver needs the id of a task, or --dead and --origin <url>.", {
      hint: "List dead callbacks with: brg callbacks --state dead",
    });
  const { client } = connect();
  const { callbacks } = client;
  if (taskId !== undefined) {
    const callback = await withTaskId(taskId, { client, signal, hasEffect: true }, (id) => callbacks.redeliver(id, { signal }));
    if (output.format === "json") output.printJson(callback);
    else printTable(output, [callback], callbackColumns);
    return undefined;
  }
  const redelivered = await callbacks.redeliverAll(origin ?? "", { signal });
  if (output.format === "json") output.printJson({ redelivered });
  else output.print(output.format === "pipe" ? String(redelivered) : `Redelivering ${redelivered} callback(s).`);
  return undefined;
};
