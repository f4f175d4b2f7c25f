import { formatCount } from "./format.ts";

/** How much a task has changed in its work tree. Null: unknown, or the task has not ended. */
interface Changes {
  files: number | null;
  insertions: number | null;
  deletions: number | null;
}

/** Describes how much a task has changed, for example `3 file(s), +10 -2`. */
export const describeChanges = ({ files, insertions, deletions }: Changes): string =>
  `${formatCount(files)} file(s), +${formatCount(insertions)} -${formatCount(deletions)}`;
