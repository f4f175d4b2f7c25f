import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock } from "../engines/postgres/server-clock.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { ClusterStore } from "./interface.ts";

/** The request that another node drains. It is one statement, which a reading connection runs. */
export function createDrainRequests(reader: Reader) {
  return {
    async requestDrain(name) {
      if ((await reader.get(requestDrain, name)) !== undefined) return "requested";
      return (await reader.get(findNode, name)) === undefined ? "absent" : "gone";
    },
  } satisfies Partial<ClusterStore>;
}

const requestDrain = toStatement(
  `UPDATE node SET state = 'draining' WHERE name = $1 AND state <> 'gone' AND lease_until > ${serverClock} RETURNING id`,
);
const findNode = toStatement("SELECT 1 AS found FROM node WHERE name = $1");
