import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { nullIfAbsent, writeFileInside } from "@hak2i/nofollow-fs";
import type { RepositoryOutcome } from "#contract";
import type { TreeTask } from "./repository.ts";

/** The file in the directory of a tree that describes it. It exists as soon as the tree does. */
export const RECORD_FILE = "tree.json";

/** What Bridge keeps next to a tree, where tasks cannot write. */
export interface TreeRecord extends TreeTask {
  baseCommit: string;
  /** Whether `setup` has succeeded. */
  isSetUp: boolean;
  /** When the task ended, in ms since the epoch, so that a repeated end makes the same commit; null before. */
  endedAt: number | null;
  /** Null before the changes are stored. */
  outcome: RepositoryOutcome | null;
  /** Whether the tree can be removed without a loss. */
  isStored: boolean;
}

/** Returns the name of the directory of a tree. A task that continues a branch gets the same path, which sessions of runtimes depend on. */
export const treeKeyOf = ({ tenant, agentId, repository }: TreeTask): string =>
  hash("sha256", [tenant, agentId, repository.name, repository.branch].join("\0")).slice(0, 24);

/** Creates the record of a task that has not ended. */
export const createRecord = (
  { tenant, taskId, agentId, createdAt, repository }: TreeTask,
  baseCommit: string,
  isSetUp: boolean,
): TreeRecord => ({
  ...{ tenant, taskId, agentId, createdAt, repository, baseCommit, isSetUp },
  ...{ endedAt: null, outcome: null, isStored: false },
});

/** Whether a record belongs to a task. */
export const isRecordOf = (record: TreeRecord, { tenant, taskId, createdAt }: TreeTask): boolean =>
  record.tenant === tenant && record.taskId === taskId && record.createdAt === createdAt;

/** Returns the record in the directory of a tree; null if there is none. */
export async function readRecord(directory: string): Promise<TreeRecord | null> {
  const text = await nullIfAbsent(readFile(path.join(directory, RECORD_FILE), "utf8"));
  return text === null ? null : (JSON.parse(text) as TreeRecord);
}

/** Returns the record of a tree, if it belongs to this task. A task that continues its branch has the same directory. */
export async function readRecordOf(directory: string, task: TreeTask): Promise<TreeRecord | null> {
  const record = await readRecord(directory);
  return record !== null && isRecordOf(record, task) ? record : null;
}

/** Replaces the record in the directory of a tree atomically. */
export async function writeRecord(directory: string, record: TreeRecord): Promise<void> {
  await writeFileInside(directory, RECORD_FILE, JSON.stringify(record));
}
