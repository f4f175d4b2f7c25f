import { Client } from "pg";
import { pause } from "./pause.ts";

/** The running tasks of one agent on one node, at one moment. */
export interface RunningRow {
  node: string;
  provider: string;
  tenant: string;
  agent: string;
  running: number;
}

/** The state of a node in the database. Times are milliseconds since the epoch. */
export interface NodeSample {
  name: string;
  state: "live" | "draining" | "gone";
  leaseUntil: number;
  incarnation: string;
  at: number;
}

/** Looks at the database repeatedly while a scenario runs. */
export interface Sampler {
  /** The number of looks. */
  readonly count: number;
  readonly violations: ReadonlySet<string>;
  /** All states of the nodes that differ in more than the lease, in the order in which they were seen. */
  readonly nodes: readonly NodeSample[];
  /** The last lease that was seen, by node. */
  readonly leases: ReadonlyMap<string, NodeSample>;
  close(): Promise<void>;
}

const PAUSE_MS = 20;

const selectRunning = `SELECT node, provider, tenant, agent_id AS agent, count(*)::int AS running
  FROM task WHERE state = 'running' GROUP BY 1, 2, 3, 4`;
const selectNodes = `SELECT name, state, incarnation, lease_until::float8 AS "leaseUntil",
  floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at FROM node`;

/** Starts to look. While the database is unavailable, it tries again. */
export function startSampler(url: () => string, maxConcurrent: number): Sampler {
  const violations = new Set<string>();
  const nodes: NodeSample[] = [];
  const leases = new Map<string, NodeSample>();
  let count = 0;
  let isClosed = false;

  async function look(client: Client): Promise<void> {
    const { rows: running } = await client.query<RunningRow>(selectRunning);
    for (const violation of checkSample(running, maxConcurrent)) violations.add(violation);
    for (const node of (await client.query<NodeSample>(selectNodes)).rows) {
      const last = leases.get(node.name);
      if (last?.state !== node.state || last.incarnation !== node.incarnation) nodes.push(node);
      leases.set(node.name, node);
    }
    count += 1;
  }

  async function lookWhileConnected(): Promise<void> {
    const client = new Client({ connectionString: url(), connectionTimeoutMillis: 1000, application_name: "sampler" });
    client.on("error", () => {});
    try {
      await client.connect();
      while (!isClosed) {
        await look(client);
        await pause(PAUSE_MS);
      }
    } catch {
      // The database is unavailable, or its schema does not exist yet.
      await pause(PAUSE_MS);
    } finally {
      void client.end().catch(() => {});
    }
  }

  async function run(): Promise<void> {
    while (!isClosed) await lookWhileConnected();
  }
  const running = run();

  return {
    get count() {
      return count;
    },
    violations,
    nodes,
    leases,
    async close() {
      isClosed = true;
      await running;
    },
  };
}

/** Checks that each adapter of each node runs no more tasks than it has slots, and that no agent runs on two nodes. */
export function checkSample(rows: readonly RunningRow[], maxConcurrent: number): string[] {
  const adapters = Map.groupBy(rows, ({ node, provider }) => `${provider} on ${node}`);
  const agents = Map.groupBy(rows, ({ tenant, agent }) => `${tenant}/${agent}`);
  return [
    ...[...adapters]
      .map(([name, group]) => ({ name, running: group.reduce((sum, row) => sum + row.running, 0) }))
      .filter(({ running }) => running > maxConcurrent)
      .map(({ name, running }) => `slots: ${running} tasks of ${name} were running at once; it has ${maxConcurrent} slots`),
    ...[...agents]
      .filter(([, group]) => new Set(group.map(({ node }) => node)).size > 1)
      .map(([name, group]) => `place: the agent ${name} was running on ${group.map(({ node }) => node).join(" and ")} at once`),
  ];
}
