import type { TaskFile } from "bridge-client";
import { formatCount, formatRelative } from "../format.ts";
import { type Column, printTable } from "../table.ts";
import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";

/** Lists the files that a task left, or writes the bytes of one to stdout. */
export const run: Run<object> = async ({ args: [taskId = "", path], output, signal, connect }) => {
  const { client } = connect();
  const { files } = client;
  if (path === undefined) {
    const list = await withTaskId(taskId, { client, signal }, (id) => files.list(id, { signal }));
    printTable(output, list.files, columns);
    if (list.truncated) output.warn("The list is incomplete, because the workspace has too many files.");
    return undefined;
  }
  const response = await withTaskId(taskId, { client, signal }, (id) => files.download(id, path, { signal }));
  await output.writeFile(response.body ?? []);
  return undefined;
};

const columns: Column<TaskFile>[] = [
  { title: "path", value: ({ path }) => path, isFlexible: true },
  { title: "bytes", value: ({ bytes }) => bytes, shown: ({ bytes }) => formatCount(bytes), align: "right" },
  { title: "modified", value: ({ modifiedAt }) => modifiedAt, shown: ({ modifiedAt }) => formatRelative(modifiedAt) },
];
