import type { Row } from "../engines/postgres/connection.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { ListedAgent, TaskStore } from "./interface.ts";

/** Lists the agents of the stored tasks. */
export function createAgentReads(reader: Reader) {
  return {
    listAgents: async (tenant, limit) => (await reader.all(selectNewest, tenant, limit)).map(toAgent),
    listAgentsByName: async (tenant, { after, limit }) => (await reader.all(selectByName, tenant, limit, after)).map(toAgent),
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
const columns = `a.id, t.provider, (SELECT p.node FROM place p WHERE p.tenant = $1 AND p.agent_id = a.id) AS node, coalesce(t.finished_at, t.started_at, t.created_at) AS at,
  (SELECT count(*) FROM task c WHERE c.tenant = $1 AND c.agent_id = a.id) AS tasks`;

/** Jumps from agent to agent along the index, and reads only the newest task of each. */
const selectNewest = toStatement(
  `WITH RECURSIVE agent (id) AS (
     SELECT min(agent_id) FROM task WHERE tenant = $1
     UNION ALL
     SELECT (SELECT min(agent_id) FROM task WHERE tenant = $1 AND agent_id > agent.id) FROM agent WHERE agent.id IS NOT NULL),
   newest AS MATERIALIZED (
     SELECT id, (SELECT max(seq) FROM task WHERE tenant = $1 AND agent_id = agent.id) AS seq FROM agent WHERE id IS NOT NULL
     ORDER BY seq DESC LIMIT $2)
   SELECT ${columns} FROM newest a JOIN task t ON t.seq = a.seq ORDER BY a.seq DESC`,
);
const selectByName = toStatement(
  `WITH RECURSIVE agent (id, number) AS (
     SELECT min(agent_id), 1 FROM task WHERE tenant = $1 AND agent_id > $3
     UNION ALL
     SELECT (SELECT min(agent_id) FROM task WHERE tenant = $1 AND agent_id > agent.id), number + 1
     FROM agent WHERE agent.id IS NOT NULL AND number < $2)
   SELECT ${columns} FROM agent a JOIN task t ON t.seq = (SELECT max(seq) FROM task n WHERE n.tenant = $1 AND n.agent_id = a.id)
   WHERE a.id IS NOT NULL ORDER BY a.id`,
);
