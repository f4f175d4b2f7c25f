import { setImmediate as nextTurn } from "node:timers/promises";
import { isFinal, type ListedTask } from "../../task.ts";
import type { Page, Store, TaskFilter } from "../store.ts";
import { createLengthLimit } from "./read-length.ts";
import type { Row, SqliteDriver } from "./sqlite-driver.ts";
import { listedColumns, toListedTask } from "./task-rows.ts";

/** Index look-ups of one read, about 3 ms. The event loop is free after each read. */
const MAX_HOPS = 1000;

/** A condition on tasks, with its parameters. */
interface Condition {
  sql: string;
  parameters: readonly string[];
}

/** The operations that list tasks. */
export function createTaskListOperations(driver: SqliteDriver) {
  /** Reads one index in the order of the list, and compares its rows with the other conditions. */
  const readInOrder = (conditions: readonly Condition[], { before, limit }: Page): Row[] =>
    driver.allUntil(
      createLengthLimit("metadata"),
      `SELECT ${listedColumns} FROM task WHERE ${conditions.map(({ sql }) => sql).join(" AND ")} AND seq < ? ORDER BY seq DESC LIMIT ?`,
      ...conditions.flatMap(({ parameters }) => parameters),
      before ?? Number.MAX_SAFE_INTEGER,
      limit,
    );

  /**
   * Finds the tasks that match several conditions, each of which has an index in the order of the list. Looks up the newest match of one
   * condition, from there the newest match of the next condition, and so on, which passes over all tasks between them. Reading one index
   * instead would read a million rows if its tasks do not match another condition.
   */
  async function findMatches(conditions: readonly Condition[], { before, limit }: Page): Promise<number[]> {
    const parameters = conditions.toReversed().flatMap((condition) => condition.parameters);
    const newestUpTo = (seq: string): string =>
      conditions.reduce((upTo, { sql }) => `(SELECT max(seq) FROM task WHERE ${sql} AND seq <= ${upTo})`, seq);
    // `reached` is `start` if that task matches all conditions.
    const hops = `WITH RECURSIVE hop (start, reached) AS (
        SELECT ?, ${newestUpTo("?")}
        UNION ALL SELECT reached - (reached = start), ${newestUpTo("reached - (reached = start)")} FROM hop WHERE reached IS NOT NULL LIMIT ?)
      SELECT start, reached FROM hop`;
    const found: number[] = [];
    const isPageFull = ({ start, reached }: Row): boolean => {
      if (start === reached) found.push(Number(start));
      return found.length === limit;
    };
    for (let start = (before ?? Number.MAX_SAFE_INTEGER) - 1; ; ) {
      const rows = driver.allUntil(isPageFull, hops, start, ...parameters, start, ...parameters, MAX_HOPS);
      const reached = rows.at(-1)?.["reached"];
      if (found.length === limit || typeof reached !== "number") return found;
      start = reached === rows.at(-1)?.["start"] ? reached - 1 : reached;
      await nextTurn();
    }
  }

  return {
    async listTasks(filter, page) {
      const conditions = conditionsOf(filter);
      // Unfinished tasks are few, and no index has them in the order of the list.
      const isUnfinished = filter.state !== undefined && !isFinal(filter.state);
      if (conditions.length < 2 || isUnfinished) return readInOrder(conditions, page).map(toListedTask);
      const found = await findMatches(conditions, page);
      const isLongEnough = createLengthLimit("metadata");
      const tasks: ListedTask[] = [];
      for (const seq of found) {
        const row = driver.get(`SELECT ${listedColumns} FROM task WHERE seq = ? AND tenant = ?`, seq, filter.tenant);
        if (row === undefined) continue;
        tasks.push(toListedTask(row));
        if (isLongEnough(row)) break;
      }
      return tasks;
    },
  } satisfies Partial<Store>;
}

/** The conditions of a filter; without any, the tenant alone. */
function conditionsOf({ tenant, state, provider, agentId, parentTaskId }: TaskFilter): Condition[] {
  const columns = { provider, agent_id: agentId, parent_id: parentTaskId };
  const used = Object.entries(columns).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const conditions = used.map(([column, value]): Condition => ({ sql: `tenant = ? AND ${column} = ?`, parameters: [tenant, value] }));
  // Written as a literal, because SQLite finds a partial index by the text of its condition. The state is from a closed list.
  if (state !== undefined) {
    const isInState = isFinal(state)
      ? `state = '${state}' AND finished_at IS NOT NULL`
      : `seq IN (SELECT seq FROM task WHERE state = '${state}')`;
    conditions.push({ sql: `tenant = ? AND ${isInState}`, parameters: [tenant] });
  }
  return conditions.length === 0 ? [{ sql: "tenant = ?", parameters: [tenant] }] : conditions;
}
