import type { ClusterStore, NodeIdentity } from "../cluster-store.ts";
import type { Reader } from "./reader-pool.ts";
import { toStatement } from "./to-statement.ts";

/** Reads what a node runs, as far as the database knows. */
export function createRunningReads(reader: Reader, { id, incarnation }: Pick<NodeIdentity, "id" | "incarnation">) {
  return {
    listOwnRunningTasks: async () => (await reader.all(selectRunning, id, incarnation)).map(({ seq }) => Number(seq)),
  } satisfies Partial<ClusterStore>;
}

/** A process that was replaced does not see the tasks of the new process. */
const selectRunning = toStatement(
  `SELECT seq FROM task WHERE state = 'running' AND node = $1
     AND EXISTS (SELECT 1 FROM node n WHERE n.id = $1 AND n.incarnation = $2 AND n.state <> 'gone')`,
);
