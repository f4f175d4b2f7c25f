import type { ListedTask, TaskFilter } from "bridge-client";
import { exitCodes } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { parseTime } from "../parse-time.ts";
import { printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import { taskColumns } from "../task-columns.ts";
import type { Invocation, Run } from "../verb.ts";
import { collectLines, watch } from "../watch.ts";

interface Options {
  state?: TaskFilter["state"];
  agent?: string;
  provider?: string;
  error?: TaskFilter["errorCode"];
  callback?: TaskFilter["callback"];
  after?: string;
  before?: string;
  finishedAfter?: string;
  finishedBefore?: string;
  idPrefix?: string;
  root?: string;
  label?: string;
  search?: string;
  limit?: number;
  watch?: boolean;
}

/** Lists tasks; with `--watch`, again whenever the list changes. */
export const run: Run<Options> = async (invocation) => {
  const { options, output, signal, connect } = invocation;
  const { state, agent, provider, error, callback, after, before, idPrefix, root, label, search, limit = 50 } = options;
  const filter: TaskFilter = {
    ...{ state, agentId: agent, provider, errorCode: error, callback, idPrefix, root, label, q: search },
    createdAfter: parseTime("--after", after),
    createdBefore: parseTime("--before", before),
    finishedAfter: parseTime("--finished-after", options.finishedAfter),
    finishedBefore: parseTime("--finished-before", options.finishedBefore),
  };
  if (options.watch === true) return watchTasks(invocation, filter, limit);
  const tasks = await takeSome<ListedTask>(connect().client.listTasks(filter, { signal }), limit, output);
  printTable(output, tasks, taskColumns(output));
  return undefined;
};

/** Shows the list on a terminal. In a pipe, prints each task of the list when it has changed, as one line of JSON. */
async function watchTasks({ output, signal, connect }: Invocation<Options>, filter: TaskFilter, limit: number): ReturnType<Run<Options>> {
  const { client, follower } = connect();
  // A wrong address or token is reported at once. The follower would retry.
  await client.getIdentity({ signal });
  const printed = new Map<string, string>();
  let tasks: ListedTask[] = [];
  const print = (to: Output): void => printTable(to, tasks, taskColumns(to));
  try {
    await watch(follower.events({}, { signal, onGap: () => {} }), signal, async () => {
      tasks = await takeSome<ListedTask>(follower.listTasks(filter, { signal }), limit, { ...output, note: () => {} });
      if (output.format === "terminal") output.screen.show(collectLines(output, print));
      else printChanged(tasks, printed, output);
      return true;
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  output.screen.close();
  if (output.format === "terminal") print(output);
  return exitCodes.interrupted;
}

function printChanged(tasks: readonly ListedTask[], printed: Map<string, string>, output: Output): void {
  for (const task of tasks.toReversed()) {
    const text = JSON.stringify(task);
    if (printed.get(task.taskId) !== text) output.printJson(task, "line");
    printed.set(task.taskId, text);
  }
  // Tasks that left the list need no memory.
  const listed = new Set(tasks.map(({ taskId }) => taskId));
  for (const taskId of printed.keys()) if (!listed.has(taskId)) printed.delete(taskId);
}
