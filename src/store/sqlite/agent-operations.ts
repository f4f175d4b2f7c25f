import type { Store } from "../store.ts";
import type { Row, SqliteDriver } from "./sqlite-driver.ts";

/** The operations that list the agents of the stored tasks. */
export function createAgentOperations(driver: SqliteDriver) {
  return {
    /** Jumps from agent to agent along the index, counts only the tasks of the returned agents, and reads only the newest task of each. */
    async listAgents(tenant, limit) {
      const rows = driver.all(
        `WITH RECURSIVE agent (id) AS (
           SELECT min(agent_id) FROM task WHERE tenant = ?
           UNION ALL
           SELECT (SELECT min(agent_id) FROM task WHERE tenant = ? AND agent_id > agent.id) FROM agent WHERE agent.id IS NOT NULL),
         newest AS MATERIALIZED (
           SELECT id, (SELECT max(seq) FROM task WHERE tenant = ? AND agent_id = agent.id) AS seq FROM agent WHERE id IS NOT NULL
           ORDER BY seq DESC LIMIT ?)
         SELECT n.id, coalesce(t.finished_at, t.started_at, t.created_at) AS at,
           (SELECT count(*) FROM task c WHERE c.tenant = ? AND c.agent_id = n.id) AS tasks
         FROM newest n CROSS JOIN task t ON t.seq = n.seq ORDER BY n.seq DESC`,
        tenant,
        tenant,
        tenant,
        limit,
        tenant,
      );
      return rows.map(toAgent);
    },
    /** Like `listAgents`, but sorted by name: at most `limit` agents after the name `after`. */
    async listAgentsByName(tenant, { after, limit }) {
      const rows = driver.all(
        `WITH RECURSIVE agent (id, number) AS (
           SELECT min(agent_id), 1 FROM task WHERE tenant = ? AND agent_id > ?
           UNION ALL
           SELECT (SELECT min(agent_id) FROM task WHERE tenant = ? AND agent_id > agent.id), number + 1
           FROM agent WHERE agent.id IS NOT NULL AND number < ?)
         SELECT a.id, coalesce(t.finished_at, t.started_at, t.created_at) AS at,
           (SELECT count(*) FROM task c WHERE c.tenant = ? AND c.agent_id = a.id) AS tasks
         FROM agent a CROSS JOIN task t ON t.seq = (SELECT max(seq) FROM task n WHERE n.tenant = ? AND n.agent_id = a.id)
         WHERE a.id IS NOT NULL ORDER BY a.id`,
        tenant,
        after,
        tenant,
        limit,
        tenant,
        tenant,
      );
      return rows.map(toAgent);
    },
  } satisfies Partial<Store>;
}

const toAgent = (row: Row) => ({ agentId: String(row["id"]), tasks: Number(row["tasks"]), updatedAt: Number(row["at"]) });
