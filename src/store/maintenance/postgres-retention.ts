import { SESSION_LIFETIME_MS, TICKET_LIFETIME_MS } from "../access/interface.ts";
import { removeExpiredBudgets } from "../budgets/postgres.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import { removeExpiredRepositories } from "../repositories/postgres.ts";
import { removeExpiredUsage } from "../usage/postgres.ts";
import type { MaintenanceStore } from "./interface.ts";
import { deleteRepositories, lockRetention, purgeSlice, raiseFloor } from "./postgres-deletion.ts";
import { type Age, findRangeEnd, type OldestEvent, TASK_SLICE_BYTES } from "./retention-range.ts";

/**
 * The age at which the last marker of a writer is removed. It is much longer than the time for which a process asks for the outcome of a
 * commit, because another node declares it dead long before, and its writes then take no effect.
 */
const MARKER_LIFETIME_MS = 7 * 86_400_000;

/** One slice of retention. */
interface Slice {
  olderThanMs: number;
  limit: number;
}

/** Deletes one slice of expired rows, or of the rows of deleted tasks. Returns their number; 0 also if another node deletes them. */
export const pruneOperation: OperationKind<Slice, number> = {
  name: "prune",
  keyOf: () => "retention",
  isRepeatable: false,
  async run(inputs, transaction) {
    const outputs: number[] = [];
    for (const input of inputs) outputs.push((await lockRetention(transaction)) ? await prune(input, transaction) : 0);
    return outputs.map((output) => ({ output }));
  },
};

async function prune({ olderThanMs, limit }: Slice, transaction: Transaction): Promise<number> {
  // The rest of a deletion that a crash has interrupted.
  const purged = await purgeSlice(transaction);
  if (purged > 0) return purged;
  const { now } = transaction;
  const age = { now, before: now - olderThanMs };
  const tokens = await transaction.query(pruneTokens, [age.before]);
  const tickets = await transaction.query(pruneTickets, [now, now + TICKET_LIFETIME_MS]);
  const sessions = await transaction.query(pruneSessions, [now, now + SESSION_LIFETIME_MS]);
  const markers = await transaction.query(pruneMarkers, [MARKER_LIFETIME_MS]);
  const deliveries = await transaction.query(pruneDeliveries, [age.before, limit]);
  const others = [removeExpiredUsage, removeExpiredBudgets, removeExpiredRepositories];
  let usage = 0;
  for (const removeExpired of others) usage += await removeExpired(transaction);
  const events = await pruneEvents(age, { limit, transaction });
  const tasks = await pruneTasks(age, { limit, transaction });
  const removed = tokens.length + tickets.length + sessions.length + markers.length + deliveries.length + usage + events + tasks;
  return removed > 0 ? removed : (await transaction.query(pruneLabels, [])).length;
}

/** Passes over locked rows, so that it cannot deadlock. */
const deleteFree = (table: string, { key, condition }: { key: string; condition: string }): string =>
  `WITH expired AS MATERIALIZED (SELECT ${key} FROM ${table} WHERE ${condition} FOR UPDATE SKIP LOCKED)
   DELETE FROM ${table} USING expired
   WHERE ${key
     .split(", ")
     .map((name) => `${table}.${name} = expired.${name}`)
     .join(" AND ")}
   RETURNING 1 AS deleted`;

const pruneTokens = {
  name: "prune_tokens",
  text: deleteFree("resume_token", { key: "tenant, provider, agent_id, token", condition: "used_at < $1" }),
};
/** A ticket or session that would live longer than any new one was issued before the clock was set back. */
const pruneTickets = {
  name: "prune_tickets",
  text: deleteFree("ticket", { key: "hash", condition: "expires_at <= $1 OR expires_at > $2" }),
};
const pruneSessions = {
  name: "prune_sessions",
  text: deleteFree("session", { key: "hash", condition: "expires_at <= $1 OR expires_at > $2" }),
};
const pruneDeliveries = {
  name: "prune_deliveries",
  text: `WITH expired AS MATERIALIZED (SELECT seq FROM webhook_delivery WHERE created_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
    DELETE FROM webhook_delivery d USING expired WHERE d.seq = expired.seq RETURNING 1 AS deleted`,
};
/** Compares with the clock of the server, which is also the default of the column. */
const pruneMarkers = {
  name: "prune_markers",
  text: deleteFree("commit_marker", { key: "writer, number", condition: "at < extract(epoch FROM clock_timestamp()) * 1000 - $1" }),
};

/** A node of a release without labels leaves the labels of the tasks that it deletes. They are removed when all earlier tasks are gone. */
const pruneLabels = {
  name: "prune_labels",
  text: deleteFree("task_label", { key: "task, name", condition: "task < (SELECT min(seq) FROM task)" }),
};

interface Scope {
  limit: number;
  transaction: Transaction;
}

/** Deletes the oldest events. No event with a lower number can become visible later, because numbers are committed in order. */
async function pruneEvents(age: Age, { limit, transaction }: Scope): Promise<number> {
  const { now, before } = age;
  const events = (await transaction.query(selectOldest, [before, now, limit])).map(toOldestEvent);
  const last = events.at(-1);
  if (last === undefined) return 0;
  const [next] = last.at > now ? await transaction.query(selectNext, [last.number, now]) : [];
  const through = findRangeEnd(events, age, () => next !== undefined && Number(next["at"]) < before);
  if (through === null) return 0;
  // The result of a task that is still kept may be read from its text events.
  await transaction.query(keepTexts, [through]);
  const [deleted] = await transaction.query(pruneThrough, [through]);
  return Number(deleted?.["rows"]);
}

const selectOldest = {
  name: "select_oldest_events",
  text: `SELECT e.number, e.at, octet_length(e.data) AS bytes,
      coalesce((t.finished_at < $1 OR t.finished_at > $2) AND coalesce(c.state, '') <> 'pending', false) AS released
    FROM (SELECT number, at, task, data FROM event ORDER BY number LIMIT $3) AS e
    JOIN task t ON t.seq = e.task LEFT JOIN callback c ON c.task = e.task ORDER BY e.number`,
};

const toOldestEvent = (row: Row): OldestEvent => ({
  number: Number(row["number"]),
  at: Number(row["at"]),
  bytes: Number(row["bytes"]),
  isReleased: row["released"] === true,
});

const selectNext = {
  name: "select_next_past_event",
  text: "SELECT at FROM event WHERE number > $1 AND at <= $2 ORDER BY number LIMIT 1",
};

const keepTexts = {
  name: "keep_pruned_texts",
  text: `INSERT INTO text_chunk (task, text, number, json)
    SELECT e.task, 0, e.number, e.data FROM event e JOIN task t ON t.seq = e.task
    WHERE e.number <= $1 AND e.type = 'assistant.text' AND t.result_gaps LIKE '%"events"%'`,
};

const pruneThrough = {
  name: "prune_events",
  text: `WITH deleted AS (DELETE FROM event WHERE number <= $1 RETURNING 1),
    pruned AS (UPDATE counter SET value = $1 WHERE name = 'pruned')${raiseFloor("SELECT $1::bigint")}
    SELECT count(*) AS rows FROM deleted`,
};

/** Deletes ended tasks without events: their events have expired. */
async function pruneTasks({ now, before }: Age, { limit, transaction }: Scope): Promise<number> {
  const rows = await transaction.query(lockExpired, [before, now, limit]);
  if (rows.length === 0) return 0;
  const seqs = rows.map(({ seq }) => Number(seq));
  const [part] = await transaction.query(selectPart, [seqs, TASK_SLICE_BYTES]);
  const expired = part?.["seqs"] as unknown as readonly number[];
  for (const statement of [deleteRepositories, ...deleteTask]) await transaction.query(statement, [expired.map(Number)]);
  return expired.length;
}

/** Passes over tasks that another transaction has locked. The rows are not sorted, which would read all such tasks per slice. */
const lockExpired = {
  name: "lock_expired_tasks",
  text: `SELECT t.seq FROM task t
    WHERE (t.finished_at < $1 OR t.finished_at > $2) AND NOT EXISTS (SELECT 1 FROM event e WHERE e.task = t.seq)
    LIMIT $3 FOR UPDATE SKIP LOCKED`,
};

/** The tasks up to the one with which they are large enough together. */
const selectPart = {
  name: "select_expired_part",
  text: `SELECT array_agg(seq) AS seqs FROM (
      SELECT seq, bytes, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (
        SELECT t.seq, octet_length(t.request) + octet_length(t.result) + coalesce(octet_length(c.body), 0)
          + (SELECT coalesce(sum(octet_length(x.json)), 0) FROM text_chunk x WHERE x.task = t.seq) AS bytes
        FROM task t LEFT JOIN callback c ON c.task = t.seq WHERE t.seq = ANY ($1::bigint[])) AS sized) AS summed
    WHERE total - bytes < $2`,
};

const deleteTask = [
  ...["callback_dedup", "callback", "approval", "task_label", "task_budget", "text_chunk"].map((table) => [table, "task"] as const),
  ["task", "seq"] as const,
].map(([table, key]) => ({ name: `prune_${table}`, text: `DELETE FROM ${table} WHERE ${key} = ANY ($1::bigint[])` }));

/** Its commit alone proves that the database accepts writes, because every batch stores a marker. */
export const checkOperation: OperationKind<void, void> = {
  name: "check",
  keyOf: () => null,
  isRepeatable: true,
  run: async (inputs) => inputs.map(() => ({ output: undefined })),
};

/** The writes of retention, and the check that the database accepts writes. */
export function createRetentionWrites(writer: Pick<BatchWriter, "write">) {
  return {
    prune: (olderThanMs, limit) => writer.write(pruneOperation, { olderThanMs, limit }),
    checkWritable: () => writer.write(checkOperation, undefined),
  } satisfies Partial<MaintenanceStore>;
}
