import type { PlacementReads, QueuedNeeds } from "../cluster-store.ts";
import { toTask } from "../task-rows.ts";
import type { Row } from "./connection.ts";
import type { Reader } from "./reader-pool.ts";
import { taskColumns } from "./task-columns.ts";
import { toStatement } from "./to-statement.ts";

/** Reads where agents live and where queued tasks may start. */
export function createPlacementReads(reader: Reader): PlacementReads {
  return {
    findPlace: async (tenant, agentId) => ((await reader.get(selectPlace, tenant, agentId))?.["node"] as string | undefined) ?? null,
    listQueuedNeeds: async () => (await reader.all(selectNeeds)).map(toQueuedNeeds),
    async findTaskThatNeeds({ provider, node, needs, isChild }) {
      const row = await reader.get(selectTaskThatNeeds, provider, node ?? "", [...needs], isChild ? "child" : "dispatched");
      return row === undefined ? null : toTask(row);
    },
  };
}

const selectPlace = toStatement("SELECT node FROM place WHERE tenant = $1 AND agent_id = $2");

const kind = "CASE WHEN parent_seq IS NULL THEN 'dispatched' ELSE 'child' END";
const selectNeeds = toStatement(
  `SELECT provider, node, needs, (parent_seq IS NOT NULL) AS is_child FROM task WHERE state = 'queued' GROUP BY 1, 2, 3, 4`,
);
const selectTaskThatNeeds = toStatement(
  `SELECT ${taskColumns} FROM task
   WHERE state = 'queued' AND provider = $1 AND coalesce(node, '') = $2 AND needs = $3::text[] AND ${kind} = $4 LIMIT 1`,
);

const toQueuedNeeds = (row: Row): QueuedNeeds => ({
  provider: String(row["provider"]),
  node: row["node"] as string | null,
  needs: row["needs"] as unknown as string[],
  isChild: row["is_child"] === true,
});
