import { setImmediate as nextTurn } from "node:timers/promises";
import { isFinal, type ListedTask } from "../../task.ts";
import { createLengthLimit, type Row, type SqliteDriver } from "../engines/sqlite/driver.ts";
import type { DeletionStore } from "../maintenance/interface.ts";
import type { Page } from "../page.ts";
import type { ListedAgent, TaskFilter, TaskStore } from "./interface.ts";
import { progressColumns, summaryColumns, toListedTask } from "./rows.ts";
import { createTaskSearch } from "./search.ts";

/** Index look-ups of one read, about 3 ms. The event loop is free after each read. */
const MAX_HOPS = 1000;

/** Maximum tasks that `readNewest` compares with a filter, per task of the requested page. */
const EXAMINED_PER_TASK = 10;

/** The columns of `toListedTask`. */
const listedColumns = `${progressColumns}, metadata, ${summaryColumns},
  (SELECT json_group_object(name, value) FROM task_label l WHERE l.task = seq) AS labels`;

/** A condition on tasks, with its parameters. */
interface Condition {
  sql: string;
  parameters: readonly string[];
}

type Conditions = readonly [Condition, ...Condition[]];

/** The operations that list tasks. */
export function createTaskListOperations(driver: SqliteDriver, { findFamily }: Pick<DeletionStore, "findFamily">) {
  const selectListed = `SELECT ${listedColumns} FROM task LEFT JOIN task_summary s ON s.task = seq WHERE seq = ? AND tenant = ?`;

  /** Reads the index of one condition, and compares its newest tasks with the other conditions. */
  function readNewest([first, ...others]: Conditions, { before, limit }: Page, enough: (row: Row) => boolean): void {
    const examined = others.length === 0 ? limit : EXAMINED_PER_TASK * limit;
    driver.allUntil(
      enough,
      `SELECT ${listedColumns} FROM (SELECT seq AS listed FROM task WHERE ${first.sql} AND seq < ? ORDER BY seq DESC LIMIT ?)
         CROSS JOIN task ON seq = listed LEFT JOIN task_summary s ON s.task = seq WHERE true ${others.map(({ sql }) => `AND ${sql}`).join(" ")} ORDER BY listed DESC`,
      ...first.parameters,
      before ?? Number.MAX_SAFE_INTEGER,
      examined,
      ...others.flatMap(({ parameters }) => parameters),
    );
  }

  /**
   * Finds the tasks that match several conditions, each of which has an index in the order of the list. Looks up the newest match of one
   * condition, from there the newest match of the next condition, and so on, which passes over all tasks between them. Reading one index
   * instead would read a million rows if its tasks do not match another condition.
   */
  async function findMatches(conditions: Conditions, { before, limit }: Page): Promise<number[]> {
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
      const isLongEnough = createLengthLimit("metadata");
      const tasks: ListedTask[] = [];
      let isFull = false;
      const add = (row: Row): boolean => {
        tasks.push(toListedTask(row));
        isFull = isLongEnough(row) || tasks.length === page.limit;
        return isFull;
      };
      // For filters that many tasks match, this is five times as fast as `findMatches`.
      readNewest(conditions, page, add);
      if (isFull || conditions.length === 1) return tasks;
      const rest = { before: tasks.at(-1)?.seq ?? page.before, limit: page.limit - tasks.length };
      for (const seq of await findMatches(conditions, rest)) {
        const row = driver.get(selectListed, seq, filter.tenant);
        if (row !== undefined && add(row)) break;
      }
      return tasks;
    },
    ...createTaskSearch({
      all: async (sql, values) => driver.all(sql, ...values.map((value) => (typeof value === "object" ? JSON.stringify(value) : value))),
      async readTasks(tenant, seqs) {
        const isLongEnough = createLengthLimit("metadata");
        const tasks: ListedTask[] = [];
        for (const seq of seqs) {
          const row = driver.get(selectListed, seq, tenant);
          if (row === undefined) continue;
          tasks.push(toListedTask(row));
          if (isLongEnough(row)) break;
        }
        return tasks;
      },
      findFamily,
      from: "candidate CROSS JOIN task t ON t.seq = candidate.number LEFT JOIN task_summary s ON s.task = t.seq",
      like: "LIKE",
      numbers: "(SELECT value AS number FROM json_each(?)) AS member",
    }),
  } satisfies Partial<TaskStore>;
}

/** The conditions of a filter, each of which has an index in the order of the list. */
function conditionsOf({ tenant, state, provider, agentId, parentTaskId }: TaskFilter): Conditions {
  const columns = { parent_id: parentTaskId, agent_id: agentId, provider };
  const used = Object.entries(columns).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const conditions = used.map(([column, value]): Condition => ({ sql: `tenant = ? AND ${column} = ?`, parameters: [tenant, value] }));
  // Written as a literal, because SQLite finds a partial index by the text of its condition. The state is from a closed list.
  if (state !== undefined && isFinal(state))
    conditions.unshift({ sql: `tenant = ? AND state = '${state}' AND finished_at IS NOT NULL`, parameters: [tenant] });
  // Unfinished tasks are few, and no index has them in the order of the list, so that all conditions are compared at once.
  if (state !== undefined && !isFinal(state)) {
    const isInState = { sql: `tenant = ? AND seq IN (SELECT seq FROM task WHERE state = '${state}')`, parameters: [tenant] };
    const all = [...conditions, isInState];
    return [{ sql: all.map(({ sql }) => sql).join(" AND "), parameters: all.flatMap(({ parameters }) => parameters) }];
  }
  const [first = { sql: "tenant = ?", parameters: [tenant] }, ...others] = conditions;
  return [first, ...others];
}

/** Tasks that one list counts at once, in about 1 ms. Then the event loop is free for a turn. */
const COUNTED_AT_ONCE = 20_000;

/** Agents whose counts are kept in memory. */
const MAX_KEPT_COUNTS = 10_000;

/** The number of an agent's tasks up to a task. */
interface Count {
  tasks: number;
  through: number;
}

/** The operations that list the agents of the stored tasks. */
export function createAgentOperations(driver: SqliteDriver) {
  /** Later counts add only newer tasks, because new tasks have higher numbers. */
  const counts = new Map<string, Count>();

  async function toAgents(rows: readonly Row[], tenant: string): Promise<ListedAgent[]> {
    let atOnce = COUNTED_AT_ONCE;

    async function countTasks(agentId: string): Promise<number> {
      const key = JSON.stringify([tenant, agentId]);
      for (;;) {
        const { tasks, through } = counts.get(key) ?? { tasks: 0, through: 0 };
        const row = driver.get(countNewer, tenant, agentId, through, atOnce) as Row;
        const newer = Number(row["tasks"]);
        if (newer > 0) {
          if (counts.size >= MAX_KEPT_COUNTS) counts.clear();
          counts.set(key, { tasks: tasks + newer, through: Number(row["through"]) });
        }
        atOnce -= newer;
        if (atOnce > 0) return tasks + newer;
        await nextTurn();
        atOnce = COUNTED_AT_ONCE;
      }
    }

    const agents: ListedAgent[] = [];
    for (const row of rows) {
      const agentId = String(row["id"]);
      agents.push({
        agentId,
        tasks: await countTasks(agentId),
        updatedAt: Number(row["at"]),
        provider: String(row["provider"]),
        node: null,
      });
    }
    return agents;
  }

  const operations = {
    /** Jumps from agent to agent along the index, and reads only the newest task of each. */
    async listAgents(tenant, limit) {
      const rows = driver.all(
        `WITH RECURSIVE agent (id) AS (
           SELECT min(agent_id) FROM task WHERE tenant = ?
           UNION ALL
           SELECT (SELECT min(agent_id) FROM task WHERE tenant = ? AND agent_id > agent.id) FROM agent WHERE agent.id IS NOT NULL),
         newest AS MATERIALIZED (
           SELECT id, (SELECT max(seq) FROM task WHERE tenant = ? AND agent_id = agent.id) AS seq FROM agent WHERE id IS NOT NULL
           ORDER BY seq DESC LIMIT ?)
         SELECT n.id, t.provider, coalesce(t.finished_at, t.started_at, t.created_at) AS at
         FROM newest n CROSS JOIN task t ON t.seq = n.seq ORDER BY n.seq DESC`,
        tenant,
        tenant,
        tenant,
        limit,
      );
      return toAgents(rows, tenant);
    },
    /** Like `listAgents`, but sorted by name: at most `limit` agents after the name `after`. */
    async listAgentsByName(tenant, { after, limit }) {
      const rows = driver.all(
        `WITH RECURSIVE agent (id, number) AS (
           SELECT min(agent_id), 1 FROM task WHERE tenant = ? AND agent_id > ?
           UNION ALL
           SELECT (SELECT min(agent_id) FROM task WHERE tenant = ? AND agent_id > agent.id), number + 1
           FROM agent WHERE agent.id IS NOT NULL AND number < ?)
         SELECT a.id, t.provider, coalesce(t.finished_at, t.started_at, t.created_at) AS at
         FROM agent a CROSS JOIN task t ON t.seq = (SELECT max(seq) FROM task n WHERE n.tenant = ? AND n.agent_id = a.id)
         WHERE a.id IS NOT NULL ORDER BY a.id`,
        tenant,
        after,
        tenant,
        limit,
        tenant,
      );
      return toAgents(rows, tenant);
    },
  } satisfies Partial<TaskStore>;

  return {
    operations,
    /** Drops the counts, inside an operation that deletes tasks. */
    forgetCounts: (): void => counts.clear(),
  };
}

const countNewer = `SELECT count(*) AS tasks, max(seq) AS through FROM (
  SELECT seq FROM task WHERE tenant = ? AND agent_id = ? AND seq > ? ORDER BY seq LIMIT ?)`;
