import type { Row } from "../engines/postgres/connection.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock, toStatement } from "../engines/postgres/statements.ts";
import { taskColumns, toTask } from "../tasks/rows.ts";
import type { ClusterStore, PlacementReads, QueuedNeeds, SharedFiles } from "./interface.ts";

/** Writes where the files of agents are, before tasks use them. Each write is one statement, which a reading connection runs. */
export function createPlaceWrites(reader: Reader) {
  return {
    async placeAgent(tenant, agentId, node) {
      const row = (await reader.get(insertPlace, tenant, agentId, node)) ?? (await reader.get(selectPlace, tenant, agentId));
      return String(row?.["node"] ?? node);
    },
    async settleSharedFiles({ id, path }) {
      await reader.all(insertSharedFiles, JSON.stringify({ id, path }));
      return JSON.parse(String((await reader.get(selectSharedFiles))?.["value"])) as SharedFiles;
    },
  } satisfies Partial<ClusterStore>;
}

const insertPlace = toStatement(
  `INSERT INTO place (tenant, agent_id, node, since) VALUES ($1, $2, $3, ${serverClock})
   ON CONFLICT DO NOTHING RETURNING node`,
);

const selectPlace = toStatement("SELECT node FROM place WHERE tenant = $1 AND agent_id = $2");

const insertSharedFiles = toStatement("INSERT INTO meta (name, value) VALUES ('shared_files', $1) ON CONFLICT DO NOTHING");

const selectSharedFiles = toStatement("SELECT value FROM meta WHERE name = 'shared_files'");

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
