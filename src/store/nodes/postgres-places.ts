import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock } from "../engines/postgres/server-clock.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { ClusterStore, SharedFiles } from "./interface.ts";

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
