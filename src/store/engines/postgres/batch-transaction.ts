import type { StoredEvent } from "../../events/interface.ts";
import type { NodeIdentity } from "../../nodes/interface.ts";
import { type Connection, DatabaseUnavailableError, endsSession, type Result } from "./connection.ts";
import { commitWithEvents } from "./number-events.ts";
import type { LockedTask, OperationKind, Outcome, TaskEvent, Transaction } from "./operation-kind.ts";
import { advisoryLocks } from "./statements.ts";

/** Any kind: the writer passes each kind only its own inputs. */
// biome-ignore lint/suspicious/noExplicitAny: the input of a kind is contravariant, so no other type holds all kinds.
export type AnyKind = OperationKind<any, unknown>;

/** One operation of a batch. */
export interface Operation {
  readonly kind: AnyKind;
  readonly input: unknown;
}

/** A committed batch. */
export interface Commit {
  /** The time of its operations, by the clock of the server. */
  readonly now: number;
  /** When the server was asked for this time, by the monotonic clock. */
  readonly askedAt: number;
  /** One output for each operation, in their order. */
  readonly outputs: readonly unknown[];
  /** The events with their numbers; null if there are some but their numbers are unknown, because the answer to the commit was lost. */
  readonly events: readonly StoredEvent[] | null;
}

/** What a transaction leaves in the database so that its writer can find out later whether it was committed. */
export interface Marker {
  /** The id of the writer. */
  readonly writer: string;
  /** Unique within the writer. */
  readonly number: number;
  /** The number of the last marker that was committed, which this transaction removes. */
  readonly previous: number;
}

/** A transaction whose outcome can be asked for. */
export interface SentTransaction {
  /** The id by which the server knows the transaction until it ends. */
  readonly id: string;
  readonly marker: Marker;
}

/** The connection was lost after the commit was sent, so the outcome is unknown. */
export class UnknownCommitError extends Error {
  override readonly name = "UnknownCommitError";
  readonly transaction: SentTransaction;
  /** The result in case that the transaction was committed. */
  readonly commit: Commit;

  constructor(transaction: SentTransaction, commit: Commit, cause: unknown) {
    super("The connection was lost while a transaction was committed.", { cause });
    this.transaction = transaction;
    this.commit = commit;
  }
}

/** The work of one transaction: operations, and all kinds in the order in which they run. */
export interface Work {
  readonly kinds: readonly AnyKind[];
  readonly operations: readonly Operation[];
  readonly marker: Marker;
  /** The node of this process. */
  readonly node: Pick<NodeIdentity, "id" | "incarnation">;
  /** Stands in for the clock of the server. */
  readonly clock?: (() => number) | undefined;
}

/**
 * Runs the operations in one transaction, the kinds in the given order. Throws `UnknownCommitError` if the outcome is unknown; after any
 * other error, nothing is committed.
 */
export async function runTransaction(connection: Connection, work: Work): Promise<Commit> {
  const { kinds, operations, clock } = work;
  let finished: { outputs: readonly unknown[]; events: readonly TaskEvent[] };
  let begun: Begun;
  try {
    const askedAt = performance.now();
    const server = await begin(connection, work);
    begun = { ...server, askedAt, now: clock?.() ?? server.now };
    const outcomes = await runKinds(kinds, operations, toTransaction(connection, begun));
    finished = { outputs: outcomes.map(({ output }) => output), events: outcomes.flatMap(({ events = [] }) => events) };
  } catch (error) {
    await rollBack(connection);
    throw error;
  }
  return commit(connection, begun, finished);
}

interface Begun extends Pick<Commit, "now" | "askedAt"> {
  transaction: SentTransaction;
  tasks: ReadonlyMap<number, LockedTask>;
  /** Of this node; null if it is no member of the cluster. */
  tags: readonly string[] | null;
}

/** The tags of a row of `node`: those of its settings, and its name, so that a task can ask for a node. */
export const tagsOfNode = "array_append(tags, 'node:' || name)";

/** Another node that declares this one dead waits for this lock, or is waited for. The renewal of the lease does not conflict with it. */
const lockMembership = {
  name: "lock_membership",
  text: `SELECT ${tagsOfNode} AS tags FROM node WHERE id = $1 AND incarnation = $2 AND state <> 'gone' FOR KEY SHARE`,
};

/** Locks all tasks at once, sorted, because two transactions that lock the same tasks in a different order would deadlock. */
const lockTasks = {
  name: "lock_tasks",
  text: "SELECT seq, state, restarts FROM task WHERE seq = ANY ($1::bigint[]) ORDER BY seq FOR NO KEY UPDATE",
};

/** Locks all tenants at once, sorted, for the same reason. */
const lockTenants = {
  name: "lock_tenants",
  text: `SELECT pg_advisory_xact_lock(${advisoryLocks.tenant}, hashtext(tenant)) FROM unnest($1::text[]) AS tenant`,
};

/** Locks all budgets at once, sorted, for the same reason. */
const lockBudgets = {
  name: "lock_budgets",
  text: `SELECT pg_advisory_xact_lock(${advisoryLocks.budget}, hashtext(name)) FROM unnest($1::text[]) AS name`,
};

/** Runs after the locks, so that the time is not before the last change of a locked task. */
const readClock = {
  name: "read_clock",
  text: `WITH added AS (INSERT INTO commit_marker (writer, number) VALUES ($1, $2)),
      removed AS (DELETE FROM commit_marker WHERE writer = $1 AND number = $3)
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, pg_current_xact_id()::text AS id`,
};

async function begin(connection: Connection, { operations, marker, node }: Work): Promise<Omit<Begun, "askedAt">> {
  const keys = operations.map(({ kind, input }) => kind.keyOf(input)).filter((key) => typeof key === "number");
  const seqs = [...new Set(keys)];
  const startsTask = operations.some(({ kind, input }) => kind.startsTask?.(input) === true);
  const limited = operations.map(({ kind, input }) => kind.limitedTenantOf?.(input) ?? null).filter((tenant) => tenant !== null);
  const tenants = [...new Set(limited)].toSorted();
  const budgets = [...new Set(operations.flatMap(({ kind, input }) => kind.budgetsOf?.(input) ?? []))].toSorted();
  type Answers = [Result, Result | null, Result | null, Result | null, Result | null, Result];
  const [, membership, locked, , , clock] = await connection.together<Answers>(() => [
    connection.query("BEGIN ISOLATION LEVEL READ COMMITTED"),
    startsTask ? connection.query(lockMembership, [node.id, node.incarnation]) : Promise.resolve(null),
    seqs.length === 0 ? Promise.resolve(null) : connection.query(lockTasks, [seqs]),
    tenants.length === 0 ? Promise.resolve(null) : connection.query(lockTenants, [tenants]),
    budgets.length === 0 ? Promise.resolve(null) : connection.query(lockBudgets, [budgets]),
    connection.query(readClock, [marker.writer, marker.number, marker.previous]),
  ]);
  const tasks = (locked?.rows ?? []).map(
    ({ seq, state, restarts }) => [Number(seq), { state: state as LockedTask["state"], restarts: Number(restarts) }] as const,
  );
  const [{ now, id } = { now: null, id: null }] = clock.rows;
  const tags = (membership?.rows[0]?.["tags"] ?? null) as unknown as readonly string[] | null;
  return { now: Number(now), transaction: { id: String(id), marker }, tasks: new Map(tasks), tags };
}

const toTransaction = (connection: Connection, { now, tasks, tags }: Begun): Transaction => ({
  now,
  isMember: tags !== null,
  tags: tags ?? [],
  lockedTask: (seq) => tasks.get(seq),
  query: async (statement, values) => (await connection.query(statement, values)).rows,
});

/** Returns the outcomes in the order of the operations. Throws the first error after all that was sent has an answer. */
async function runKinds(
  kinds: readonly AnyKind[],
  operations: readonly Operation[],
  transaction: Transaction,
): Promise<Outcome<unknown>[]> {
  const outcomes: Outcome<unknown>[] = [];
  const errors: unknown[] = [];
  let running: Promise<void>[] = [];
  for (const kind of kinds) {
    const own = [...operations.entries()].filter(([, operation]) => operation.kind === kind).sort(([, a], [, b]) => compareKeys(a, b));
    if (own.length === 0) continue;
    const inputs = own.map(([, { input }]) => input);
    const run = async (): Promise<void> => {
      const results = await kind.run(inputs, transaction);
      if (results.length !== inputs.length)
        throw new Error(`The kind ${kind.name} returned ${results.length} outcomes for ${inputs.length} operations.`);
      for (const [position, [index]] of own.entries()) outcomes[index] = results[position] as Outcome<unknown>;
    };
    running.push(run().catch((error: unknown) => void errors.push(error)));
    if (kind.overlaps?.(inputs) === true) continue;
    await Promise.all(running);
    running = [];
    if (errors.length > 0) break;
  }
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
  return outcomes;
}

/** Keys of one kind have the same type. The sort is stable, so operations with one key stay in the order of their calls. */
function compareKeys(a: Operation, b: Operation): number {
  const [first, second] = [a.kind.keyOf(a.input) ?? "", b.kind.keyOf(b.input) ?? ""];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** Commits, after the events were numbered and stored. */
async function commit(
  connection: Connection,
  { now, askedAt, transaction }: Begun,
  { outputs, events }: { outputs: readonly unknown[]; events: readonly TaskEvent[] },
): Promise<Commit> {
  const hasEvents = events.length > 0;
  try {
    const committed = await (hasEvents ? commitWithEvents(connection, events, now) : connection.query("COMMIT"));
    // PostgreSQL answers the COMMIT of a failed transaction with this tag, and not with an error.
    if (committed.command !== "COMMIT") throw new Error(`PostgreSQL answered COMMIT with ${committed.command}.`);
    const first = Number(committed.rows.at(-1)?.["first"]);
    return {
      now,
      askedAt,
      outputs,
      events: events.map(({ task, type, data }, index) => ({ number: first + index, task, type, at: now, data })),
    };
  } catch (error) {
    // After any other error, the transaction cannot commit any more.
    if (error instanceof DatabaseUnavailableError || endsSession(error))
      throw new UnknownCommitError(transaction, { now, askedAt, outputs, events: hasEvents ? null : [] }, error);
    await rollBack(connection);
    throw error;
  }
}

/** Makes the connection usable again. If that fails, the connection is given up, and the server rolls back. */
async function rollBack(connection: Connection): Promise<void> {
  if (connection.isLost) return;
  try {
    await connection.query("ROLLBACK");
  } catch {
    connection.close();
  }
}

/** The outcome of a transaction. */
export type TransactionStatus = "committed" | "aborted" | "in progress";

const selectStatus = { name: "select_status", text: "SELECT pg_xact_status($1::xid8) AS status" };

const selectMarker = { name: "select_marker", text: "SELECT 1 AS found FROM commit_marker WHERE writer = $1 AND number = $2" };

/** The server has not assigned the id: it has crashed, or it is another one after a failover. */
const ID_IN_THE_FUTURE = "22023";

/**
 * Asks the server for the outcome of a transaction whose commit got no answer. `pg_xact_status` only shows whether
 * the transaction has ended: after a crash of the server, its id can belong to another transaction, which was
 * committed. So the marker decides. It is read in a later statement, which sees it if the transaction was committed.
 */
export async function readTransactionStatus(connection: Connection, { id, marker }: SentTransaction): Promise<TransactionStatus> {
  if (await isInProgress(connection, id)) return "in progress";
  const { rows } = await connection.query(selectMarker, [marker.writer, marker.number]);
  return rows.length > 0 ? "committed" : "aborted";
}

async function isInProgress(connection: Connection, id: string): Promise<boolean> {
  try {
    const { rows } = await connection.query(selectStatus, [id]);
    return rows[0]?.["status"] === "in progress";
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === ID_IN_THE_FUTURE) return false;
    throw error;
  }
}
