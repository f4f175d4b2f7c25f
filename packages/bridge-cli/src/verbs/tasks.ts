import type { ListedTask, TaskFilter } from "bridge-client";
import { parseTime } from "../parse-time.ts";
import { printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import { taskColumns } from "../task-columns.ts";
import type { Run } from "../verb.ts";

interface Options {
  state?: TaskFilter["state"];
  agent?: string;
  provider?: string;
  error?: TaskFilter["errorCode"];
  callback?: TaskFilter["callback"];
  after?: string;
  before?: string;
  idPrefix?: string;
  root?: string;
  label?: string;
  search?: string;
  limit?: number;
}

/** Lists tasks. */
export const run: Run<Options> = async ({ options, output, signal, connect }) => {
  const { state, agent, provider, error, callback, after, before, idPrefix, root, label, search, limit = 50 } = options;
  const filter: TaskFilter = {
    ...{ state, agentId: agent, provider, errorCode: error, callback, idPrefix, root, label, q: search },
    createdAfter: parseTime("--after", after),
    createdBefore: parseTime("--before", before),
  };
  const tasks = await takeSome<ListedTask>(connect().client.listTasks(filter, { signal }), limit, output);
  printTable(output, tasks, taskColumns(output));
  return undefined;
};
