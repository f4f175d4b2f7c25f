/** A small damage of the source that a scenario or a test must detect. */
export interface Mutation {
  name: string;
  /** What detects it: a scenario of the cluster test, or a test file, which runs on a private PostgreSQL server. */
  caughtBy: { scenario: string } | { test: string };
  file: string;
  /** A text that the file contains once, and what replaces it. */
  find: string;
  replace: string;
}

/** The mutations, the most dangerous first. */
export const mutations: readonly Mutation[] = [
  {
    name: "a node ends the tasks of all nodes when it starts",
    caughtBy: { scenario: "kills" },
    file: "src/store/tasks/postgres-reads.ts",
    find: `FROM task WHERE state = 'running' AND node = $1 \${condition}`,
    replace: `FROM task WHERE state = 'running' AND $1::text IS NOT NULL \${condition}`,
  },
  {
    name: "an unknown commit is repeated",
    caughtBy: { scenario: "cut-commits" },
    file: "src/store/engines/postgres/batch-commits.ts",
    find: `if (status !== "committed") return abandonAll(batch);`,
    replace: "if (status !== null) return abandonAll(batch);",
  },
  {
    name: "an unknown commit counts as committed",
    caughtBy: { scenario: "cut-commits" },
    file: "src/store/engines/postgres/batch-commits.ts",
    find: `if (status !== "committed") return abandonAll(batch);`,
    replace: "if (status === null) return abandonAll(batch);",
  },
  {
    name: "a node does not stop its tasks before others declare it dead",
    caughtBy: { scenario: "stalled-node" },
    file: "src/cluster/lease.ts",
    find: "const OWN_DEADLINE = 2 / 3;",
    replace: "const OWN_DEADLINE = 200;",
  },
  {
    name: "a node that was declared dead goes on",
    caughtBy: { scenario: "frozen-node" },
    file: "src/cluster/lease.ts",
    find: "    onExpelled();\n",
    replace: "",
  },
  {
    name: "a node declares others dead although it has only just come back",
    caughtBy: { scenario: "database-away-two-leases" },
    file: "src/cluster/reaper.ts",
    find: "if (!isInTouch()) return;",
    replace: "",
  },
  {
    name: "no node is declared dead",
    caughtBy: { scenario: "lost-nodes" },
    file: "src/cluster/reaper.ts",
    find: "const dead = await cluster.takeExpiredNode();",
    replace: "const dead = null as Awaited<ReturnType<typeof cluster.takeExpiredNode>>;",
  },
  {
    name: "a claim does not lock the budgets in which it reserves",
    caughtBy: { scenario: "calm" },
    file: "src/store/tasks/postgres-claim.ts",
    find: "  budgetsOf: ({ budgets }) => budgets,\n",
    replace: "",
  },
  {
    name: "a task ends again although it has ended",
    caughtBy: { test: "test/store/tasks/postgres-writes.test.ts" },
    file: "src/store/tasks/postgres-finish.ts",
    find: "if (stored?.state !== from || stored.restarts !== task.restarts) return false;",
    replace: "if (stored === undefined) return false;",
  },
  {
    name: "a task that has ended gets more events",
    caughtBy: { scenario: "stalled-node" },
    file: "src/store/events/postgres.ts",
    find: `if (stored?.state !== "running" || stored.restarts !== task.restarts) return { output: false };`,
    replace: "if (stored === undefined) return { output: false };",
  },
  {
    name: "a node with a slow clock counts its lease by it",
    caughtBy: { scenario: "wrong-clocks" },
    file: "src/store/nodes/postgres-lease.ts",
    find: "        leaseMs,\n",
    replace: `        leaseMs + Number(process.env["TEST_CLOCK_SHIFT_MS"] ?? 0),\n`,
  },
  {
    name: "a follower that is ahead of the node has an unknown position",
    caughtBy: { scenario: "calm" },
    file: "src/store/open-postgres.ts",
    find: "    catchUp: tail.catchUp,\n",
    replace: "    catchUp: async () => tail.lastEventNumber(),\n",
  },
  {
    name: "the tail is not read without a hint",
    caughtBy: { test: "test/store/engines/postgres/poll.test.ts" },
    file: "src/store/engines/postgres/poll.ts",
    find: "else wait(hintsArrive() ? POLL_MS : POLL_WITHOUT_HINTS_MS)",
    replace: "else wait(1_000_000)",
  },
  {
    name: "the agents of a node move to another one",
    caughtBy: { scenario: "calm" },
    file: "src/store/tasks/postgres-accept.ts",
    find: "CASE WHEN g.parent_seq IS NULL THEN p.node ELSE",
    replace: `CASE WHEN g.parent_seq IS NULL THEN $\${nodeAt} ELSE`,
  },
  {
    name: "a node that has lost a task ends its next run",
    caughtBy: { test: "test/store/tasks/postgres-writes.test.ts" },
    file: "src/store/tasks/postgres-finish.ts",
    find: "stored?.state !== from || stored.restarts !== task.restarts",
    replace: "stored?.state !== from",
  },
  {
    name: "two nodes record the outcome of one attempt of a callback",
    caughtBy: { test: "test/store/posts/postgres-callbacks.test.ts" },
    file: "src/store/posts/postgres-callbacks.ts",
    find: " AND c.attempts = given.attempts\n      RETURNING",
    replace: "\n      RETURNING",
  },
  {
    name: "a node takes the callbacks of a node whose lease is over before that is declared dead",
    caughtBy: { test: "test/store/posts/postgres-origins.test.ts" },
    file: "src/store/posts/postgres-origins.ts",
    find: `const isAlive = "n.state <> 'gone'";`,
    replace: `const isAlive = "n.state <> 'gone' AND n.lease_until > (SELECT extract(epoch FROM clock_timestamp()) * 1000)";`,
  },
  {
    name: "the rollback of a failed transaction counts as its commit",
    caughtBy: { test: "test/store/engines/postgres/batch-writer.test.ts" },
    file: "src/store/engines/postgres/batch-transaction.ts",
    find: `if (committed.command !== "COMMIT") throw`,
    replace: `if (committed.command === "") throw`,
  },
  {
    name: "a follower gets live events that it has already received in a page",
    caughtBy: { test: "test/events/follow-events.test.ts" },
    file: "src/events/follow-events.ts",
    find: "(events[0]?.number ?? 0) > position ? events : events.filter(({ number }) => number > position)",
    replace: "position < -1 ? [] : events",
  },
  {
    name: "a failover does not begin a new epoch",
    caughtBy: { test: "test/store/nodes/several-nodes.test.ts" },
    file: "src/store/events/postgres-epoch.ts",
    find: "(known !== null && known !== timeline)",
    replace: `known === ""`,
  },
  {
    name: "a node does not publish again after a failover what has the same numbers",
    caughtBy: { test: "test/store/nodes/several-nodes.test.ts" },
    file: "src/store/events/postgres-tail.ts",
    find: "last = Math.min(last, number);",
    replace: "",
  },
  {
    name: "a migration waits for a lock for as long as other statements",
    caughtBy: { test: "test/store/engines/postgres/migrate.test.ts" },
    file: "src/store/engines/postgres/migrate.ts",
    find: "const LOCK_MS = 700;",
    replace: "const LOCK_MS = 10_000;",
  },
  {
    name: "a migration runs although a live node cannot work with it",
    caughtBy: { test: "test/store/engines/postgres/migrate.test.ts" },
    file: "src/store/engines/postgres/migrate.ts",
    find: "  await checkLiveNodes(connection, migration);\n",
    replace: "",
  },
  {
    name: "a node that drains closes its port at once",
    caughtBy: { scenario: "rolling-restart" },
    file: "src/cluster/wait-for-load-balancers.ts",
    find: "const HEALTH_CHECKS_MS = 5_000;",
    replace: "const HEALTH_CHECKS_MS = 0;",
  },
  {
    name: "a shutdown destroys responses that are being written",
    caughtBy: { test: "test/http/server/create-server.test.ts" },
    file: "src/http/server/drain-responses.ts",
    find: "    await withTimeout(waitForAnswers(), limitMs, () => {});\n",
    replace: "",
  },
];
