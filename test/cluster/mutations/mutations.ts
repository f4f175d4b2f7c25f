/** A small damage of the source that a scenario must detect. */
export interface Mutation {
  name: string;
  /** The scenario that detects it. */
  scenario: string;
  file: string;
  /** A text that the file contains once, and what replaces it. */
  find: string;
  replace: string;
}

/** The mutations, the most dangerous first. */
export const mutations: readonly Mutation[] = [
  {
    name: "a node ends the tasks of all nodes when it starts",
    scenario: "kills",
    file: "src/store/postgres/task-reads.ts",
    find: `FROM task WHERE state = 'running' AND node = $1 \${condition}`,
    replace: `FROM task WHERE state = 'running' AND $1::text IS NOT NULL \${condition}`,
  },
  {
    name: "an unknown commit is repeated",
    scenario: "cut-commits",
    file: "src/store/postgres/batch-commits.ts",
    find: `if (status !== "committed") return abandonAll(batch);`,
    replace: "if (status !== null) return abandonAll(batch);",
  },
  {
    name: "an unknown commit counts as committed",
    scenario: "cut-commits",
    file: "src/store/postgres/batch-commits.ts",
    find: `if (status !== "committed") return abandonAll(batch);`,
    replace: "if (status === null) return abandonAll(batch);",
  },
  {
    name: "a node does not stop its tasks before others declare it dead",
    scenario: "stalled-node",
    file: "src/cluster/membership.ts",
    find: "const OWN_DEADLINE = 2 / 3;",
    replace: "const OWN_DEADLINE = 200;",
  },
  {
    name: "a node that was declared dead goes on",
    scenario: "frozen-node",
    file: "src/cluster/membership.ts",
    find: "    onExpelled();\n",
    replace: "",
  },
  {
    name: "a node declares others dead although it has only just come back",
    scenario: "database-away-two-leases",
    file: "src/cluster/reaper.ts",
    find: "if (!isInTouch()) return;",
    replace: "",
  },
  {
    name: "no node is declared dead",
    scenario: "lost-nodes",
    file: "src/cluster/reaper.ts",
    find: "const dead = await cluster.takeExpiredNode();",
    replace: "const dead = null as Awaited<ReturnType<typeof cluster.takeExpiredNode>>;",
  },
  {
    name: "a task ends again although it has ended",
    scenario: "stalled-node",
    file: "src/store/postgres/finish-operation.ts",
    find: "if (stored?.state !== from || stored.restarts !== task.restarts) return false;",
    replace: "if (stored === undefined) return false;",
  },
  {
    name: "a task that has ended gets more events",
    scenario: "stalled-node",
    file: "src/store/postgres/append-operation.ts",
    find: `if (stored?.state !== "running" || stored.restarts !== task.restarts) return { output: false };`,
    replace: "if (stored === undefined) return { output: false };",
  },
  {
    name: "a node with a slow clock counts its lease by it",
    scenario: "wrong-clocks",
    file: "src/store/postgres/lease-writes.ts",
    find: "        leaseMs,\n",
    replace: `        leaseMs + Number(process.env["TEST_CLOCK_SHIFT_MS"] ?? 0),\n`,
  },
  {
    name: "a follower that is ahead of the node has an unknown position",
    scenario: "calm",
    file: "src/store/postgres/postgres-store.ts",
    find: "    catchUp: tail.catchUp,\n",
    replace: "    catchUp: async () => tail.lastEventNumber(),\n",
  },
  {
    name: "the tail is not read without a hint",
    scenario: "hints-lost",
    file: "src/store/postgres/poll.ts",
    find: "timer = setTimeout(now, hintsArrive() ? POLL_MS : POLL_WITHOUT_HINTS_MS)",
    replace: "timer = setTimeout(now, 1_000_000)",
  },
  {
    name: "the agents of a node move to another one",
    scenario: "calm",
    file: "src/store/postgres/accept-operation.ts",
    find: "CASE WHEN g.parent_seq IS NULL THEN p.node ELSE",
    replace: `CASE WHEN g.parent_seq IS NULL THEN $\${nodeAt} ELSE`,
  },
];
