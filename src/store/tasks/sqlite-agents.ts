import { setImmediate as nextTurn } from "node:timers/promises";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { ListedAgent, TaskStore } from "./interface.ts";

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
