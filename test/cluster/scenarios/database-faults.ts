import { pause } from "../pause.ts";
import type { Cluster, Scenario } from "../scenario.ts";

/** What Bridge logs as an error while it cannot write. */
const storageErrors = /database|storage_unavailable|PostgreSQL/i;

/** The server crashes and starts again, several times. */
export const databaseCrashes: Scenario = {
  name: "database-crashes",
  expectedErrors: storageErrors,
  async act({ server, random, times, count }) {
    for (let number = 0; number < times(8); number += 1) {
      await pause(random.integer(300, 1500));
      await server.crash();
      await pause(random.integer(0, 600));
      await server.start();
      count("faults");
    }
    await pause(500);
  },
};

/** The connection of a commit is lost before its request arrives, or after it has committed and before its answer arrives. */
export const cutCommits: Scenario = {
  name: "cut-commits",
  expectedErrors: storageErrors,
  async act({ nodes, random, times, count, expectSoon }) {
    const wanted = times(200);
    const cut = (): number => nodes.reduce((sum, { proxy }) => sum + proxy.cutCommits, 0);
    for (const { proxy } of nodes)
      proxy.cutCommitsWhile(() => {
        if (cut() >= wanted || !random.chance(0.2)) return null;
        return random.pick(["request", "reply"] as const);
      });
    await expectSoon(`proof: fewer than ${wanted} commits were cut`, () => cut() >= wanted, 120_000);
    count("faults", cut());
  },
};

/** The server ends sessions of nodes: those of the writers, the readers and the listeners. */
export const sessionsEnd: Scenario = {
  name: "sessions-end",
  expectedErrors: storageErrors,
  async act({ query, random, times, count }) {
    for (let number = 0; number < times(60); number += 1) {
      await pause(random.integer(20, 250));
      const sessions = await query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'bridge' ORDER BY pid",
      );
      if (sessions.length === 0) continue;
      await query("SELECT pg_terminate_backend($1)", [random.pick(sessions).pid]);
      count("faults");
    }
  },
};

/** The sessions that listen are ended at once whenever they are opened, so that most hints are lost. */
export const hintsLost: Scenario = {
  name: "hints-lost",
  expectedErrors: storageErrors,
  async act({ query, times, count }) {
    for (let number = 0; number < times(100); number += 1) {
      const ended = await query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'bridge' AND query ~ 'LISTEN|NOTIFY|pg_listening|pg_notify'`,
      );
      count("faults", ended.length);
      await pause(100);
    }
  },
};

/** No node reaches the database for half of a lease. The agents go on. */
export const databaseAwayBriefly: Scenario = {
  name: "database-away-half-lease",
  // A node stops its agents a sixth of the lease later, which has to be longer than a pause of a busy machine.
  leaseSeconds: 24,
  expectedErrors: storageErrors,
  async act(cluster) {
    await loseDatabase(cluster, 0.5);
    const [row] = await cluster.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM task WHERE restarts > 0 OR result LIKE '%bridge_restarted%'`,
    );
    if (row?.count !== 0)
      cluster.onViolation(`deadline: ${row?.count} tasks were interrupted while the database was away for half a lease`);
  },
};

/** No node reaches the database for two leases. Each stops its agents, and no node that comes back is declared dead. */
export const databaseAwayLong: Scenario = {
  name: "database-away-two-leases",
  expectedErrors: storageErrors,
  minCompleted: 0.4,
  async act(cluster) {
    await loseDatabase(cluster, 2);
    for (const { name, state } of cluster.sampler.nodes)
      if (state === "gone") cluster.onViolation(`reap: ${name} was declared dead after the database had been away`);
  },
};

async function loseDatabase({ nodes, leaseMs, times, count }: Cluster, leases: number): Promise<void> {
  for (let number = 0; number < times(3); number += 1) {
    await pause(1000);
    for (const { proxy } of nodes) proxy.cut();
    await pause(leases * leaseMs);
    for (const { proxy } of nodes) proxy.pass();
    count("faults");
    await pause(1000);
  }
}

/**
 * A node freezes for a moment, at a random point of its transactions. The others wait for its locks only until the server ends its session.
 */
export const freezes: Scenario = {
  name: "freezes",
  expectedErrors: storageErrors,
  async act({ nodes, random, times, count }) {
    for (let number = 0; number < times(200); number += 1) {
      await pause(random.integer(5, 60));
      const node = random.pick(nodes);
      node.life?.signal("SIGSTOP");
      await pause(random.integer(5, 120));
      node.life?.signal("SIGCONT");
      count("faults");
    }
  },
};
