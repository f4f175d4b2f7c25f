/** Keys of advisory locks in Bridge's database. They never change, because nodes of several versions share them. */
export const advisoryLocks = {
  /** Held by the one migration that runs. */
  migration: 4_713_001,
  /** Held from the numbering of events to the commit, so that events become visible in the order of their numbers. */
  eventNumbers: 4_713_002,
  /** Held by the one slice of retention, or of the rows of deleted tasks, that is being deleted. */
  retention: 4_713_003,
  /** Held by the one node that joins. */
  join: 4_713_004,
  /** With a hash of the agent as second key. Held by the one transaction that may give the agent a place. */
  agent: 4_713_005,
  /** With a hash of the tenant as second key. Held by the one transaction that starts tasks of a tenant with a limit on them. */
  tenant: 4_713_006,
} as const;
