import type { Reader } from "../engines/postgres/reader-pool.ts";
import { readServerClock, serverClock, toStatement } from "../engines/postgres/statements.ts";
import type { ClusterStore, FilesMode } from "./interface.ts";
import { CHANNEL } from "./postgres-hints.ts";

/** For this time, one node ends the tasks of a dead one. If it dies too, another node continues. */
const TAKEN_MS = 30_000;
/**
 * For this time, the statement that declares a node dead has an effect. A network that delays it for longer may have kept the node itself
 * from renewing its lease meanwhile.
 */
const VALID_MS = 2_000;
/** For this time after its lease, a dead node without agents remains visible to operators. */
const REMEMBERED_MS = 24 * 3600 * 1000;

/** The writes that concern dead nodes. Each is one statement, which a reading connection runs. */
export function createDeadNodeWrites(reader: Reader, ownId: string) {
  return {
    async takeExpiredNode() {
      const validUntil = (await readServerClock(reader)) + VALID_MS;
      const row = await reader.get(takeExpired, ownId, TAKEN_MS, validUntil);
      return row === undefined ? null : { id: String(row["id"]), name: String(row["name"]), files: row["files"] as FilesMode };
    },
    async releaseNode(id) {
      await reader.all(release, id);
    },
    async freeTasks(node) {
      await reader.all(freeStranded, node);
    },
    async forgetNode(name) {
      if ((await reader.get(forget, name)) !== undefined) return "forgotten";
      return (await reader.get(findNode, name)) === undefined ? "absent" : "alive";
    },
    forgetUnusedNodes: async () => (await reader.all(forgetUnused, REMEMBERED_MS)).length,
  } satisfies Partial<ClusterStore>;
}

const hasRunningTasks = "EXISTS (SELECT 1 FROM task t WHERE t.state = 'running' AND t.node = n.id)";
const holdsAgents = "EXISTS (SELECT 1 FROM place p WHERE p.node = n.id AND n.files <> 'local')";

/** The lock waits for no one: a batch that holds the row either ends soon, or the server ends it, and the next call takes the node. */
const takeExpired = toStatement(
  `WITH expired AS MATERIALIZED (
     SELECT n.id FROM node n
     WHERE n.id <> $1 AND n.taken_until < ${serverClock} AND ${serverClock} < $3::bigint
       AND CASE WHEN n.state = 'gone' THEN ${hasRunningTasks} OR ${holdsAgents} ELSE n.lease_until < ${serverClock} END
     LIMIT 1 FOR UPDATE SKIP LOCKED)
   UPDATE node SET state = 'gone', taken_until = ${serverClock} + $2::bigint FROM expired WHERE node.id = expired.id
   RETURNING node.id, node.name, node.files`,
);

/** Queued tasks of agents that live nowhere any more may start on any node. Their rows are locked in order, as batches lock them. */
const freeTasks = `
   waiting AS MATERIALIZED (
     SELECT t.seq FROM dead JOIN task t ON coalesce(t.node, '') = dead.id AND t.state = 'queued' AND t.parent_seq IS NULL
     WHERE dead.frees_agents ORDER BY t.seq FOR NO KEY UPDATE OF t),
   freed AS (UPDATE task SET node = NULL FROM waiting WHERE task.seq = waiting.seq)`;

/** The sessions of agents whose files are lost cannot be resumed. The statement sees the places that it deletes. */
const deleteTokens = (condition: string): string => `
   tokens AS (
     DELETE FROM resume_token r USING dead, place p
     WHERE p.node = dead.id AND r.tenant = p.tenant AND r.agent_id = p.agent_id AND ${condition})`;

const release = toStatement(
  `WITH dead AS MATERIALIZED (SELECT id, files, files <> 'local' AS frees_agents FROM node WHERE id = $1 AND state = 'gone' FOR UPDATE),
   origins AS (DELETE FROM callback_origin o USING dead WHERE o.node = dead.id),
   places AS (DELETE FROM place p USING dead WHERE p.node = dead.id AND dead.frees_agents), ${deleteTokens("dead.files = 'ephemeral'")}, ${freeTasks}
   UPDATE node SET taken_until = 0 FROM dead WHERE node.id = dead.id RETURNING pg_notify('${CHANNEL}', 'callbacks:any')`,
);

/**
 * A transaction that reads the place of an agent while the place is deleted stores its task for that node, and the release does not see the
 * task. Such tasks are searched for later, because a lock on each place that is read would make every dispatch a write to it.
 */
const freeStranded = toStatement(
  `WITH stranded AS MATERIALIZED (
     SELECT t.seq FROM task t WHERE t.state = 'queued' AND coalesce(t.node, '') = $1 AND t.parent_seq IS NULL
       AND NOT EXISTS (SELECT 1 FROM place p WHERE p.tenant = t.tenant AND p.agent_id = t.agent_id AND p.node = $1)
     ORDER BY t.seq FOR NO KEY UPDATE OF t)
   UPDATE task SET node = NULL FROM stranded WHERE task.seq = stranded.seq`,
);

/** A node with running tasks is not forgotten, because the reaper would not find them. */
const forget = toStatement(
  `WITH dead AS MATERIALIZED (
     SELECT n.id, n.files, true AS frees_agents FROM node n WHERE n.name = $1 AND n.state = 'gone' AND NOT ${hasRunningTasks} FOR UPDATE),
   origins AS (DELETE FROM callback_origin o USING dead WHERE o.node = dead.id),
   places AS (DELETE FROM place p USING dead WHERE p.node = dead.id), ${deleteTokens("dead.files <> 'shared'")}, ${freeTasks}
   DELETE FROM node USING dead WHERE node.id = dead.id RETURNING node.id`,
);
/** A node with agents is kept, because it can return with their files. */
const forgetUnused = toStatement(
  `DELETE FROM node n
   WHERE n.state = 'gone' AND n.lease_until < ${serverClock} - $1::bigint AND n.taken_until < ${serverClock}
     AND NOT ${hasRunningTasks} AND NOT EXISTS (SELECT 1 FROM place p WHERE p.node = n.id)
   RETURNING n.id`,
);
const findNode = toStatement("SELECT 1 AS found FROM node WHERE name = $1");
