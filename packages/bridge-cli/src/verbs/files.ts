import type { TaskFile } from "bridge-client";
import { formatCount, formatRelative } from "../format.ts";
import { nameTask } from "../name-task.ts";
import { type Column, printTable } from "../table.ts";
import type { Run } from "../verb.ts";

/** Lists the files that a task left, or writes the bytes of one to stdout. */
export const run: Run<object> = async ({ args: [taskId = "", path], output, signal, connect }) => {
  const { files } = connect().client;
  if (path === undefined) {
    const list = await nameTask(taskId, files.list(taskId, { signal }));
    printTable(output, list.files, columns);
    if (list.truncated) output.warn("The list is incomplete, because the workspace has too many files.");
    return undefined;
  }
  const response = await files.download(taskId, path, { signal });
  await output.writeFile(response.body ?? []);
  return undefined;
};

const columns: Column<TaskFile>[] = [
  { title: "path", value: ({ path }) => path, isFlexible: true },
  { title: "bytes", value: ({ bytes }) => bytes, shown: ({ bytes }) => formatCount(bytes), align: "right" },
  { title: "modified", value: ({ modifiedAt }) => modifiedAt, shown: ({ modifiedAt }) => formatRelative(modifiedAt) },
];
