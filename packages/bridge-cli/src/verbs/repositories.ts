import type { Repository } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { formatRelative } from "../format.ts";
import { type Column, printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import type { Run } from "../verb.ts";

/** Lists the repositories of which tasks can have a work tree; with a name, the stored branches of this repository. */
export const run: Run<object> = async ({ args: [name], output, signal, connect }) => {
  const all = await takeSome(connect().client.repositories.list({ signal }), Number.POSITIVE_INFINITY, output);
  if (name === undefined) {
    printTable(output, all, columns);
    return undefined;
  }
  const repository = all.find((candidate) => candidate.name === name);
  if (repository === undefined)
    throw new CommandError("notFound", `There is no repository "${name}".`, { hint: "List them with: brg repositories" });
  printTable(output, repository.branches, branchColumns);
  return undefined;
};

const columns: Column<Repository>[] = [
  { title: "repository", value: ({ name }) => name },
  { title: "ref", value: ({ defaultRef }) => defaultRef },
  { title: "push", value: ({ push }) => (push ? "yes" : "no") },
  { title: "branches", value: ({ branches }) => branches.length, align: "right" },
  { title: "fetched", value: ({ lastFetchAt }) => lastFetchAt, shown: ({ lastFetchAt }) => formatRelative(lastFetchAt) },
];

const branchColumns: Column<Repository["branches"][number]>[] = [
  { title: "branch", value: ({ name }) => name },
  { title: "task", value: ({ taskId }) => taskId },
  { title: "head", value: ({ headCommit }) => headCommit },
];
