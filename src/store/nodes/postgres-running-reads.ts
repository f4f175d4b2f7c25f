import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { ClusterStore, NodeIdentity } from "./interface.ts";

/** Reads which tasks run, as far as the database knows. */
export function createRunningReads(reader: Reader, { id, incarnation }: Pick<NodeIdentity, "id" | "incarnation">) {
  const pendingCounts = new Map<string, ReturnType<typeof count>>();

  async function count(tenant: string, agentId: string) {
    const row = await reader.get(countOfTenant, tenant, agentId);
    return { ofTenant: Number(row?.["of_tenant"]), ofAgent: Number(row?.["of_agent"]) };
  }

  return {
    listOwnRunningTasks: async () => (await reader.all(selectRunning, id, incarnation)).map(({ seq }) => Number(seq)),
    /** A list asks this of many tasks of the same agent at once. */
    countRunning({ tenant, agentId }) {
      const key = JSON.stringify([tenant, agentId]);
      const counted = pendingCounts.get(key) ?? count(tenant, agentId).finally(() => pendingCounts.delete(key));
      pendingCounts.set(key, counted);
      return counted;
    },
  } satisfies Partial<ClusterStore>;
}

/** A process that was replaced does not see the tasks of the new process. */
const selectRunning = toStatement(
  `SELECT seq FROM task WHERE state = 'running' AND node = $1
     AND EXISTS (SELECT 1 FROM node n WHERE n.id = $1 AND n.incarnation = $2 AND n.state <> 'gone')`,
);

/** Every running task has a node, which makes PostgreSQL read the index of running tasks instead of all tasks of the tenant. */
const countOfTenant = toStatement(
  `WITH running AS MATERIALIZED (SELECT tenant, agent_id, parent_seq FROM task WHERE state = 'running' AND node >= '')
   SELECT count(*) AS of_tenant, count(*) FILTER (WHERE agent_id = $2) AS of_agent FROM running WHERE parent_seq IS NULL AND tenant = $1`,
);
