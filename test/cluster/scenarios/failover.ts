import { pause } from "../pause.ts";
import type { Scenario } from "../scenario.ts";

/**
 * The server of the database is lost, and the replica that confirms each commit takes its place. Nothing that was accepted is lost, and
 * readers learn that a new epoch of event ids has begun.
 */
export const failover: Scenario = {
  name: "failover",
  // The nodes reach no server for a moment, which must not end their leases.
  leaseSeconds: 120,
  nodes: 3,
  expectedErrors: /database|storage_unavailable|PostgreSQL/i,
  mayLoseEventIds: true,
  async act({ nodes, server, query, random, times, count, expectSoon, onViolation }) {
    for (let number = 0; number < times(2); number += 1) {
      await server.startReplica();
      await pause(random.integer(500, 1500));
      const before = await readEpoch(query);
      for (const { proxy } of nodes) proxy.refuse();
      await server.failOver();
      for (const { proxy } of nodes) {
        proxy.redirect(server.port);
        proxy.pass();
      }
      count("faults");
      await expectSoon("epoch: no new epoch has begun after a failover", async () => (await readEpoch(query)) !== before);
      await pause(2000);
    }
    const [row] = await query<{ count: number }>("SELECT count(*)::int AS count FROM task WHERE result LIKE '%bridge_restarted%'");
    if (row?.count !== 0) onViolation(`failover: ${row?.count} tasks were interrupted`);
  },
};

async function readEpoch(query: <Row extends object>(text: string) => Promise<Row[]>): Promise<string | undefined> {
  return (await query<{ value: string }>("SELECT value FROM meta WHERE name = 'epoch'"))[0]?.value;
}
