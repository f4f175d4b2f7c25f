import { type RepositoryOutcome, stringifyWellFormed } from "#contract";
import type { StoredRow } from "../tasks/rows.ts";
import type { WriteOptions } from "../writes.ts";
import {
  type KeptBranch,
  MAX_LISTED_BRANCHES,
  type NewTaskRepository,
  type RepositoryStore,
  type StoredTaskRepository,
  UNUSED_MS,
} from "./interface.ts";

type Value = string | number | null;

/** A statement with a `?` for each of its values. */
export type Write = readonly [sql: string, ...values: Value[]];

/** The reads and writes of an engine. */
interface RepositoryEngine {
  now(): number;
  all(sql: string, ...values: Value[]): Promise<readonly StoredRow[]>;
  /** Runs statements in one transaction, and returns the rows of the last one. `key` identifies the task. */
  write(key: string, toStatements: (now: number) => readonly Write[], options?: WriteOptions): Promise<readonly StoredRow[]>;
}

const isTaskStored = "EXISTS (SELECT 1 FROM task t WHERE t.tenant = task_repository.tenant AND t.id = task_repository.task_id)";
/** Each write returns a row for each row that it changes, because SQLite runs statements with and without rows differently. */
const returning = "RETURNING 1 AS changed";
const ofTask = "tenant = ? AND task_id = ?";
/** Whether another task has the branch. */
const isTaken = `EXISTS (SELECT 1 FROM task_repository other
  WHERE other.tenant = ? AND other.repository = ? AND other.branch = ? AND other.has_branch = 1 AND other.task_id <> ?)`;
const ofBranch = "tenant = ? AND repository = ? AND branch = ?";

/** Creates the operations of an engine. */
export function createRepositoryOperations({ now: readClock, all, write }: RepositoryEngine): RepositoryStore {
  const findHolder = async ({ tenant, repository, branch }: Parameters<RepositoryStore["findBranchTask"]>[0]): Promise<string | null> => {
    const [row] = await all(`SELECT task_id FROM task_repository WHERE ${ofBranch} AND has_branch = 1`, tenant, repository, branch);
    return row === undefined ? null : String(row["task_id"]);
  };

  async function insertIfFree(given: NewTaskRepository): Promise<string | null> {
    const { tenant, taskId, repository, branch, baseCommit, continuesBranch } = given;
    const inserted = await write(keyOf(tenant, taskId), (now) => [
      [
        `DELETE FROM task_repository WHERE ${ofBranch} AND has_branch = 1 AND created_at < ? AND NOT ${isTaskStored} ${returning}`,
        ...[tenant, repository, branch, now - UNUSED_MS],
      ],
      [
        `INSERT INTO task_repository (tenant, task_id, repository, branch, base_commit, has_branch, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING ${returning}`,
        ...[tenant, taskId, repository, branch, baseCommit, continuesBranch ? 0 : 1, now],
      ],
    ]);
    if (inserted.length > 0) return null;
    const [own] = await all(`SELECT 1 AS known FROM task_repository WHERE ${ofTask}`, tenant, taskId);
    // The other task may have lost the branch in the meantime.
    return own === undefined ? ((await findHolder(given)) ?? insertIfFree(given)) : null;
  }

  return {
    insertTaskRepositoryIfFree: insertIfFree,
    async deleteTaskRepositoryIfUnused(tenant, taskId) {
      const sql = `DELETE FROM task_repository WHERE ${ofTask} AND NOT ${isTaskStored} ${returning}`;
      await write(keyOf(tenant, taskId), () => [[sql, tenant, taskId]]);
    },
    async setBaseCommit(tenant, taskId, baseCommit) {
      const sql = `UPDATE task_repository SET base_commit = ? WHERE ${ofTask} ${returning}`;
      await write(keyOf(tenant, taskId), () => [[sql, baseCommit, tenant, taskId]], { patient: true });
    },
    async endTaskRepository({ tenant, taskId, repository, branch }, { outcome, keepsBranch }) {
      const head = keepsBranch ? outcome.headCommit : null;
      const hasBranch = head === null ? 0 : 1;
      const json = stringifyWellFormed(outcome);
      await write(
        keyOf(tenant, taskId),
        (now) => [
          [
            `UPDATE task_repository SET has_branch = 0
             WHERE ${ofBranch} AND has_branch = 1 AND task_id <> ? AND ? = 1 AND head_commit = ? ${returning}`,
            ...[tenant, repository, branch, taskId, hasBranch, outcome.baseCommit],
          ],
          [
            `INSERT INTO task_repository (tenant, task_id, repository, branch, base_commit, head_commit, has_branch, outcome, created_at)
             VALUES (?, ?, ?, ?, ?, ?, CASE WHEN ${isTaken} THEN 0 ELSE ? END, ?, ?)
             ON CONFLICT (tenant, task_id) DO UPDATE SET base_commit = excluded.base_commit,
               head_commit = excluded.head_commit, has_branch = excluded.has_branch, outcome = excluded.outcome ${returning}`,
            ...[tenant, taskId, repository, branch, outcome.baseCommit, head],
            ...[tenant, repository, branch, taskId, hasBranch, json, now],
          ],
        ],
        { patient: true },
      );
    },
    async findBranchTask({ tenant, repository, branch }) {
      const [row] = await all(
        `SELECT task_id FROM task_repository WHERE ${ofBranch} AND has_branch = 1 AND (created_at >= ? OR ${isTaskStored})`,
        ...[tenant, repository, branch, readClock() - UNUSED_MS],
      );
      return row === undefined ? null : String(row["task_id"]);
    },
    async listBranches(tenant) {
      const rows = await all(
        `SELECT * FROM (
           SELECT task_id, repository, branch, head_commit,
             row_number() OVER (PARTITION BY repository ORDER BY created_at DESC, task_id DESC) AS age
           FROM task_repository WHERE tenant = ? AND has_branch = 1 AND head_commit IS NOT NULL) AS kept
         WHERE age <= ? ORDER BY repository, branch`,
        ...[tenant, MAX_LISTED_BRANCHES],
      );
      return rows.map(toKeptBranch);
    },
  };
}

/** Deletes the repositories of tasks that were not stored, such as those whose insert a crash has prevented. */
export const removeUnused = (now: number): Write => [
  `DELETE FROM task_repository WHERE outcome IS NULL AND created_at < ? AND NOT ${isTaskStored} ${returning}`,
  now - UNUSED_MS,
];

/** Deletes the repositories of tasks, before their rows. `is` compares their numbers with the parameter. */
export const removeOfTasks = (is: string): string =>
  `DELETE FROM task_repository WHERE (tenant, task_id) IN (SELECT tenant, id FROM task WHERE seq ${is})`;

const keyOf = (tenant: string, taskId: string): string => `${tenant}\n${taskId}`;

const toKeptBranch = (row: StoredRow): KeptBranch => ({
  taskId: String(row["task_id"]),
  repository: String(row["repository"]),
  branch: String(row["branch"]),
  headCommit: String(row["head_commit"]),
});

/** The columns of `toTaskRepository`, of the table with this alias. */
export const repositoryColumns = (alias: string): string => `${alias}.repository, ${alias}.branch, ${alias}.base_commit, ${alias}.outcome`;

/** The repository of a task from a row; null if the row has none. */
export function toTaskRepository({ repository, branch, base_commit: baseCommit, outcome }: StoredRow): StoredTaskRepository | null {
  if (typeof repository !== "string") return null;
  return {
    name: repository,
    branch: String(branch),
    baseCommit: (baseCommit ?? null) as string | null,
    outcome: typeof outcome === "string" ? (JSON.parse(outcome) as RepositoryOutcome) : null,
  };
}
