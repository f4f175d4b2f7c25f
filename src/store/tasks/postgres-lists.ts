import { isFinal, type TaskState } from "../../task.ts";
import type { Row, Statement } from "../engines/postgres/connection.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { cutPage, isFull, numberParameters, toStatement } from "../engines/postgres/statements.ts";
import type { DeletionStore } from "../maintenance/interface.ts";
import type { Page } from "../page.ts";
import type { ListedAgent, TaskFilter, TaskStore } from "./interface.ts";
import { listedColumns as columns, toListedTask } from "./rows.ts";
import { createTaskSearch } from "./search.ts";

/** Index look-ups of one read. */
const MAX_HOPS = 1000;

/** Maximum tasks that the first read compares with a filter, per task of the requested page. */
const EXAMINED_PER_TASK = 10;

/** The columns of `toListedTask`. */
const listedColumns = `${columns}, (SELECT json_object_agg(name, value)::text FROM task_label l WHERE l.task = seq) AS labels`;

/** Conditions on tasks, each of which has an index in the order of the list, and the values of their parameters. */
interface Conditions {
  /** At least one. */
  sql: readonly string[];
  parameters: readonly string[];
  /** Unfinished tasks are few, and no index has them in the order of the list, so that all conditions are compared at once. */
  unfinished: TaskState | null;
}

/** Lists tasks. */
export function createTaskListReads(reader: Reader, { findFamily }: Pick<DeletionStore, "findFamily">) {
  async function readNewest(conditions: Conditions, { before, limit }: Page): Promise<readonly Row[]> {
    const examined = conditions.sql.length === 1 ? limit : EXAMINED_PER_TASK * limit;
    return reader.all(selectNewest(conditions), ...conditions.parameters, before ?? Number.MAX_SAFE_INTEGER, limit, examined);
  }

  /**
   * Finds the tasks that match several conditions. Looks up the newest match of one condition, from there the newest match of the next
   * condition, and so on, which passes over all tasks between them. Reading one index instead would read a million rows if its tasks do not
   * match another condition.
   */
  async function findMatches(conditions: Conditions, { before, limit }: Page): Promise<number[]> {
    const hops = selectHops(conditions);
    const found: number[] = [];
    for (let start = (before ?? Number.MAX_SAFE_INTEGER) - 1; ; ) {
      const rows = await reader.all(hops, ...conditions.parameters, start, limit - found.length);
      found.push(...rows.filter((row) => row["start"] === row["reached"]).map((row) => Number(row["start"])));
      const last = rows.at(-1);
      if (found.length === limit || typeof last?.["reached"] !== "number") return found;
      start = last["reached"] === last["start"] ? last["reached"] - 1 : last["reached"];
    }
  }

  return {
    async listTasks(filter, page) {
      const conditions = conditionsOf(filter);
      // For filters that many tasks match, this takes less time than `findMatches`.
      const newest = await readNewest(conditions, page);
      const tasks = newest.map(toListedTask);
      if (conditions.sql.length === 1 || conditions.unfinished !== null || tasks.length === page.limit || isFull(newest)) return tasks;
      const found = await findMatches(conditions, { before: tasks.at(-1)?.seq ?? page.before, limit: page.limit - tasks.length });
      const others = found.length === 0 ? [] : await reader.all(selectFound, filter.tenant, found);
      return [...tasks, ...others.map(toListedTask)];
    },
    ...createTaskSearch({
      all: (sql, values) => reader.all(toStatement(numberParameters(sql)), ...values),
      readTasks: async (tenant, seqs) => (await reader.all(selectFound, tenant, seqs)).map(toListedTask),
      findFamily,
      // The offset keeps PostgreSQL from reading the index of a condition instead of the candidates.
      from: "(SELECT number, task.* FROM candidate JOIN task ON seq = number ORDER BY number DESC OFFSET 0) AS t",
      like: "ILIKE",
      numbers: "unnest(?::bigint[]) AS member (number)",
    }),
  } satisfies Partial<TaskStore>;
}

function conditionsOf({ tenant, state, provider, agentId, parentTaskId }: TaskFilter): Conditions {
  const columns = { parent_id: parentTaskId, agent_id: agentId, provider };
  const used = Object.entries(columns).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const sql = used.map(([column], index) => `tenant = $1 AND ${column} = $${index + 2}`);
  // Written as a literal, because a partial index serves no parameter. The state is from a closed list.
  if (state !== undefined && isFinal(state)) sql.unshift(`tenant = $1 AND state = '${state}' AND finished_at IS NOT NULL`);
  return {
    sql: sql.length === 0 ? ["tenant = $1"] : sql,
    parameters: [tenant, ...used.map(([, value]) => value)],
    unfinished: state === undefined || isFinal(state) ? null : state,
  };
}

/**
 * Reads the index of one condition, and compares its newest tasks with the other conditions. The offset keeps PostgreSQL from reading the
 * index of another condition for each of them.
 */
function selectNewest({ sql, parameters, unfinished }: Conditions): Statement {
  const [before, limit, examined] = [1, 2, 3].map((offset) => `$${parameters.length + offset}::bigint`);
  const [first, ...others] = unfinished === null ? sql : [sql.join(" AND ")];
  const source = unfinished === null ? "task" : "unfinished";
  return toStatement(
    cutPage(
      `${unfinished === null ? "" : selectUnfinished(unfinished)}
       SELECT * FROM (
         SELECT ${listedColumns}, listed AS position FROM (
           SELECT seq AS listed FROM ${source} WHERE ${first} AND seq < ${before} ORDER BY seq DESC LIMIT ${examined}) AS newest
         JOIN task ON seq = listed ORDER BY listed DESC OFFSET 0) AS compared
       ${others.length === 0 ? "" : `WHERE ${others.join(" AND ")}`} ORDER BY position DESC LIMIT ${limit}`,
      { column: "metadata", order: "DESC" },
    ),
  );
}

const selectUnfinished = (state: TaskState): string =>
  `WITH unfinished AS MATERIALIZED (SELECT seq, tenant, parent_id, agent_id, provider FROM task WHERE state = '${state}')`;

/** Rows of `hop`: `reached` is the newest task up to `start` that may match all conditions. It matches them if it is `start`. */
function selectHops({ sql, parameters }: Conditions): Statement {
  const [start, limit] = [1, 2].map((offset) => `$${parameters.length + offset}::bigint`);
  const newestUpTo = (seq: string): string =>
    sql.reduce((upTo, condition) => `(SELECT max(seq) FROM task WHERE ${condition} AND seq <= ${upTo})`, seq);
  return toStatement(
    `WITH RECURSIVE hop (start, reached, found) AS (
       SELECT ${start}, ${newestUpTo(start as string)}, 0
       UNION ALL
       SELECT next.start, ${newestUpTo("next.start")}, next.found
       FROM hop CROSS JOIN LATERAL (
         SELECT reached - (reached = hop.start)::int AS start, hop.found + (reached = hop.start)::int AS found) AS next
       WHERE reached IS NOT NULL AND next.found < ${limit})
     SELECT start, reached FROM hop LIMIT ${MAX_HOPS}`,
  );
}

/** `OFFSET 0` makes PostgreSQL select by `seq` first. Otherwise it may read all tasks of the tenant through their index. */
const selectFound = toStatement(
  cutPage(
    `SELECT ${listedColumns}, seq AS position FROM (
       SELECT * FROM task WHERE seq = ANY ($2::bigint[]) ORDER BY seq DESC OFFSET 0) AS found WHERE tenant = $1 ORDER BY seq DESC`,
    { column: "metadata", order: "DESC" },
  ),
);

/** Lists the agents of the stored tasks. */
export function createAgentReads(reader: Reader) {
  return {
    listAgents: async (tenant, limit) => (await reader.all(selectNewestAgents, tenant, limit)).map(toAgent),
    listAgentsByName: async (tenant, { after, limit }) => (await reader.all(selectAgentsByName, tenant, limit, after)).map(toAgent),
  } satisfies Partial<TaskStore>;
}

const toAgent = (row: Row): ListedAgent => ({
  agentId: String(row["id"]),
  tasks: Number(row["tasks"]),
  updatedAt: Number(row["at"]),
  provider: String(row["provider"]),
  node: row["node"] as string | null,
});

/** The columns of `toAgent`, of an agent `a` and its newest task `t`. The count reads an index, and no rows of tasks. */
const agentColumns = `a.id, t.provider, (SELECT p.node FROM place p WHERE p.tenant = $1 AND p.agent_id = a.id) AS node, coalesce(t.finished_at, t.started_at, t.created_at) AS at,
  (SELECT count(*) FROM task c WHERE c.tenant = $1 AND c.agent_id = a.id) AS tasks`;

/** Jumps from agent to agent along the index, and reads only the newest task of each. */
const selectNewestAgents = toStatement(
  `WITH RECURSIVE agent (id) AS (
     SELECT min(agent_id) FROM task WHERE tenant = $1
     UNION ALL
     SELECT (SELECT min(agent_id) FROM task WHERE tenant = $1 AND agent_id > agent.id) FROM agent WHERE agent.id IS NOT NULL),
   newest AS MATERIALIZED (
     SELECT id, (SELECT max(seq) FROM task WHERE tenant = $1 AND agent_id = agent.id) AS seq FROM agent WHERE id IS NOT NULL
     ORDER BY seq DESC LIMIT $2)
   SELECT ${agentColumns} FROM newest a JOIN task t ON t.seq = a.seq ORDER BY a.seq DESC`,
);

const selectAgentsByName = toStatement(
  `WITH RECURSIVE agent (id, number) AS (
     SELECT min(agent_id), 1 FROM task WHERE tenant = $1 AND agent_id > $3
     UNION ALL
     SELECT (SELECT min(agent_id) FROM task WHERE tenant = $1 AND agent_id > agent.id), number + 1
     FROM agent WHERE agent.id IS NOT NULL AND number < $2)
   SELECT ${agentColumns} FROM agent a JOIN task t ON t.seq = (SELECT max(seq) FROM task n WHERE n.tenant = $1 AND n.agent_id = a.id)
   WHERE a.id IS NOT NULL ORDER BY a.id`,
);
