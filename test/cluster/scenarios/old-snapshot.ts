import type { Cluster, Scenario } from "../scenario.ts";

/** Tasks that wait for a node that does not return. */
const WAITING = 10_000;
const ABSENT = { id: "absent", agent: "agent-of-absent-node" };

/** A report keeps an old snapshot open, and many tasks wait for an absent node. Both slow down claims that read old rows. */
export const oldSnapshot: Scenario = {
  name: "old-snapshot",
  leaseSeconds: 120,
  environment: { BRIDGE_QUEUE_LIMIT: "100000" },
  async act(cluster) {
    const { query, times, expectSoon, orchestrator, count } = cluster;
    const seconds = 1 + times(9);
    // One statement keeps its snapshot for as long as it runs.
    const report = query("SELECT count(*), pg_sleep($1) FROM task", [seconds]);
    await insertWaitingTasks(cluster, times(WAITING));
    const ended = (): number => [...orchestrator.tasks.values()].filter((task) => task.ended).length;
    const before = ended();
    await report;
    await expectSoon("old snapshot: no task ends while many others wait for an absent node", () => ended() > before);
    count("waiting", times(WAITING));
    // They are no tasks of the orchestrator, so the checks at the end do not know them.
    await query("DELETE FROM task WHERE agent_id = $1", [ABSENT.agent]);
    await query("DELETE FROM place WHERE node = $1", [ABSENT.id]);
    await query("DELETE FROM node WHERE id = $1", [ABSENT.id]);
  },
};

/** Its lease is not over, so that its tasks wait. */
async function insertWaitingTasks({ query, tenants }: Cluster, waiting: number): Promise<void> {
  const tenant = tenants[0]?.tenant;
  await query(
    `INSERT INTO node (id, incarnation, home, name, version, schema_version, files, state, lease_until, started_at, settings_digest)
     SELECT $1, '1', '', $1, version, schema_version, files, 'live', lease_until + 3600000, started_at, settings_digest FROM node LIMIT 1`,
    [ABSENT.id],
  );
  await query(
    `INSERT INTO node_adapter (node, provider, health, capabilities, running, max_running, checked_at)
     SELECT $1, provider, health, capabilities, 0, max_running, checked_at FROM node_adapter WHERE provider = 'command' LIMIT 1`,
    [ABSENT.id],
  );
  await query("INSERT INTO place (tenant, agent_id, node, since) VALUES ($1, $2, $3, 0)", [tenant, ABSENT.agent, ABSENT.id]);
  await query(
    `INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, node)
     SELECT $1, 'waiting-' || number, $2, 'command', 'queued', '{"message":"quick"}', '', 0, $3 FROM generate_series(1, $4::int) AS number`,
    [tenant, ABSENT.agent, ABSENT.id, waiting],
  );
}
