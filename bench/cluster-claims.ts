import { Client } from "pg";
import { openPostgresStore } from "../src/store/open-postgres.ts";
import { quantile } from "./statistics.ts";

/** Claims in one slice. The claimed tasks return to the queue after the slice. */
const SLICE = 200;
const WARM_UP_SLICES = 2;
const TENANT = "bench";
const PROVIDER = "noop";

/** The times of claims in ms, by the length of the queue. */
export type ClaimTimes = Map<number, { p50Ms: number; p99Ms: number }>;

/** Measures claims, each with its commit, from queues whose tasks alternate between any node and another node, in turn. */
export async function measureClaims(databases: ReadonlyMap<number, string>, slices: number): Promise<ClaimTimes> {
  const subjects = [];
  try {
    for (const [queued, url] of databases) subjects.push(await openQueue(queued, url));
    for (let slice = -WARM_UP_SLICES; slice < slices; slice += 1) {
      for (const { measureSlice, times } of slice % 2 === 0 ? subjects : subjects.toReversed()) {
        const measured = await measureSlice();
        if (slice >= 0) times.push(...measured);
      }
    }
    return new Map(subjects.map(({ queued, times }) => [queued, { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) }]));
  } finally {
    for (const { close } of subjects) await close();
  }
}

async function openQueue(queued: number, url: string) {
  const { store, cluster } = await openPostgresStore({ url, node: { id: "here", incarnation: "here-1", home: "/here" } });
  const node = { name: "here", url: null, version: "0", tags: [], files: "local", settingsDigest: "", leaseMs: 3_600_000 } as const;
  await cluster.join(node);
  const client = new Client(url);
  await client.connect();
  await client.query(
    `INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, node)
     SELECT $1, 'task-' || i, CASE WHEN i % 2 = 0 THEN 'away-' ELSE 'here-' END || i % 100, $2, 'queued', $3, '', 0, CASE WHEN i % 2 = 0 THEN 'away' END
     FROM generate_series(1, $4::bigint) AS i`,
    [TENANT, PROVIDER, JSON.stringify({ message: "x".repeat(1000) }), queued],
  );
  await client.query(
    "INSERT INTO place (tenant, agent_id, node, since) SELECT $1, 'away-' || i, 'away', 0 FROM generate_series(0, 98, 2) AS i",
    [TENANT],
  );
  await client.query("VACUUM ANALYZE");

  return {
    queued,
    times: [] as number[],
    async measureSlice(): Promise<number[]> {
      const times: number[] = [];
      for (let count = 0; count < SLICE; count += 1) {
        const startedAt = performance.now();
        const task = await store.startNextTaskIfQueued({ provider: PROVIDER, tenant: TENANT, kind: "dispatched", exceptAgents: [] });
        times.push(performance.now() - startedAt);
        if (task === null) throw new Error("A claim returned no task.");
      }
      await client.query("UPDATE task SET state = 'queued', node = NULL, started_at = NULL, ran_from = NULL WHERE state = 'running'");
      await client.query("VACUUM task");
      return times;
    },
    async close(): Promise<void> {
      await client.end();
      await store.close();
    },
  };
}
