import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";

/**
 * Whether the node `n` is alive. A node whose lease is over stays alive until it is declared dead: after a failure of the database, all
 * leases have expired, and another owner would repeat the POSTs whose outcome this node could not store.
 */
const isAlive = "n.state <> 'gone'";

/** Whether another live node has the origin of this column; `node` is a parameter. */
export const isForeign = ({ origin, node }: Readonly<Record<"origin" | "node", string>>): string =>
  `EXISTS (SELECT 1 FROM callback_origin o JOIN node n ON n.id = o.node
     WHERE o.origin = ${origin} AND o.node <> ${node} AND ${isAlive})`;

/**
 * Takes the origins that no live node has, for the node `deliverer`; takes none if it is null. Returns the nodes that have the origins. An
 * origin is absent if no live node has it, or if another node takes it at the same time.
 */
export async function takeOrigins(
  origins: readonly string[],
  deliverer: string | null,
  transaction: Transaction,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(origins)];
  const rows = await transaction.query(selectOwners, [wanted, deliverer]);
  const owners = new Map(rows.map((row) => [String(row["origin"]), String(row["node"])]));
  const free = wanted.filter((origin) => !owners.has(origin));
  if (free.length === 0 || deliverer === null) return owners;
  for (const row of await transaction.query(takeFree, [free, deliverer, transaction.now])) owners.set(String(row["origin"]), deliverer);
  return owners;
}

const selectOwners = {
  name: "select_origin_owners",
  text: `SELECT o.origin, o.node FROM unnest($1::text[]) AS given (origin) JOIN callback_origin o ON o.origin = given.origin
    WHERE o.node = $2::text OR EXISTS (SELECT 1 FROM node n WHERE n.id = o.node AND ${isAlive})`,
};

/**
 * Compares the owner again when it replaces it, because another node may have taken the origin since the statement began. Sorted, because
 * two nodes that take the same origins in a different order would deadlock.
 */
const takeFree = {
  name: "take_free_origins",
  text: `WITH wanted AS MATERIALIZED (SELECT origin FROM unnest($1::text[]) AS given (origin) ORDER BY origin),
    left_over AS MATERIALIZED (
      SELECT o.origin, o.node FROM wanted JOIN callback_origin o ON o.origin = wanted.origin
      WHERE NOT EXISTS (SELECT 1 FROM node n WHERE n.id = o.node AND n.id <> $2::text AND ${isAlive})),
    added AS (
      INSERT INTO callback_origin (origin, node, taken_at) SELECT origin, $2::text, $3::bigint FROM wanted
      ON CONFLICT (origin) DO NOTHING RETURNING origin),
    replaced AS (
      UPDATE callback_origin o SET node = $2::text, taken_at = $3::bigint FROM left_over
      WHERE o.origin = left_over.origin AND o.node = left_over.node RETURNING o.origin)
    SELECT origin FROM added UNION ALL SELECT origin FROM replaced`,
};

/** Origins to take for a node. */
interface Take {
  origins: readonly string[];
  deliverer: string;
}

/** Takes origins that no live node has. Returns those that the node has now. */
export const takeOriginsOperation: OperationKind<Take, ReadonlySet<string>> = {
  name: "take_origins",
  keyOf: () => "origins",
  isRepeatable: false,
  async run(inputs, transaction) {
    const outcomes = [];
    for (const { origins, deliverer } of inputs) {
      const owners = await takeOrigins(origins, deliverer, transaction);
      outcomes.push({ output: new Set(origins.filter((origin) => owners.get(origin) === deliverer)) });
    }
    return outcomes;
  },
};

/** The release of origins that have no pending callbacks and that a node took so long ago. */
interface Release {
  node: string;
  idleForMs: number;
}

/** Releases origins, so that the next node that stores a callback to them takes them. */
export const releaseIdleOriginsOperation: OperationKind<Release, void> = {
  name: "release_idle_origins",
  keyOf: () => "origins",
  isRepeatable: false,
  async run(inputs, transaction) {
    for (const { node, idleForMs } of inputs) await transaction.query(releaseIdle, [node, transaction.now - idleForMs]);
    return inputs.map(() => ({ output: undefined }));
  },
};

const releaseIdle = {
  name: "release_idle_origins",
  text: `DELETE FROM callback_origin o WHERE node = $1 AND taken_at < $2
    AND NOT EXISTS (SELECT 1 FROM callback c WHERE c.state = 'pending' AND c.origin = o.origin)`,
};
