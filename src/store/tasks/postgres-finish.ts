import type { Task } from "../../task.ts";
import { rejectApprovals } from "../approvals/postgres.ts";
import type { LimitsAt } from "../budgets/interface.ts";
import { changeReservations, type HeldChange } from "../budgets/postgres-reservations.ts";
import { settle, toRunTotal } from "../budgets/rows.ts";
import { toColumnText } from "../column-text.ts";
import type { OperationKind, Outcome, TaskEvent, Transaction } from "../engines/postgres/operation-kind.ts";
import { toColumns } from "../engines/postgres/statements.ts";
import type { NewEvent } from "../events/interface.ts";
import { type ReadGapped, toNewDueCallback, toStoredBody } from "../posts/callback-rows.ts";
import type { DueCallback, NewCallback } from "../posts/interface.ts";
import { takeOrigins } from "../posts/postgres-origins.ts";
import { addUsage } from "../usage/postgres.ts";
import type { UsageRollup } from "../usage/rows.ts";
import { encodeGaps } from "./gapped-json.ts";
import type { Finish } from "./interface.ts";
import { toEndedSummary, toStartEvent } from "./rows.ts";

/** The end of a task. */
interface End {
  /** Its `restarts` is the fence: a node that has lost the task cannot end its next run. */
  task: Task;
  from: "queued" | "running";
  finish: Finish;
  /** The node that takes the origin of the callback if no live node has it; null if this node posts no callbacks. */
  deliverer: string | null;
  /** The node that stores the end, and its rollup of usage. */
  node: string;
  rollup: UsageRollup;
  limitsAt: LimitsAt;
}

/** An ended task and its new callback. */
interface Ended {
  task: Task;
  callback: NewDueCallback | null;
}

/** A new callback, whose body is read by the given function, and the node that posts it; null if no node has taken its origin yet. */
interface NewDueCallback {
  toCallback(readGapped: ReadGapped): DueCallback;
  owner: string | null;
}

/** What the writes of ends have found: the events of rejected approvals by task, and the nodes that have the origins of callbacks. */
interface Written {
  rejections: ReadonlyMap<number, TaskEvent[]>;
  /** Warnings about budgets by task. */
  warnings: ReadonlyMap<number, readonly NewEvent[]>;
  /** Queued tasks that had started before. */
  started: ReadonlySet<number>;
  owners: ReadonlyMap<string, string>;
}

/** An end whose guard holds. */
interface AllowedEnd extends End {
  resultJson: string;
  callback: NewCallback | null;
}

/** Ends tasks: state, result, terminal event, callback, resume token, pending approvals, usage. Returns null if the guard does not hold. */
export const finishOperation: OperationKind<End, Ended | null> = {
  name: "finish",
  keyOf: ({ task }) => task.seq,
  isRepeatable: true,
  budgetsOf: ({ task }) => task.budgets ?? [],
  // Its counts of budgets are read before they are written.
  overlaps: (inputs) => inputs.every(({ task }) => task.budgets === undefined),
  async run(inputs, transaction) {
    const allowed = new Map<End, AllowedEnd>();
    for (const input of inputs) if (isAllowed(input, transaction)) allowed.set(input, toAllowedEnd(input, transaction.now));
    const written = await write([...allowed.values()], transaction);
    return inputs.map((input) => toOutcome(allowed.get(input), transaction.now, written));
  },
};

/** The guard needs no statement, because the row of the task is locked. Marks the task as ended for later operations. */
function isAllowed({ task, from, finish }: End, transaction: Transaction): boolean {
  const stored = transaction.lockedTask(task.seq);
  if (stored?.state !== from || stored.restarts !== task.restarts) return false;
  stored.state = finish.state;
  return true;
}

const toAllowedEnd = (end: End, now: number): AllowedEnd => ({
  ...end,
  resultJson: end.finish.storedResult?.json ?? JSON.stringify(end.finish.result),
  callback: end.finish.callback === null ? null : end.finish.callback(now),
});

/** Sends all statements at once, except the one that takes origins. */
async function write(ends: readonly AllowedEnd[], transaction: Transaction): Promise<Written> {
  if (ends.length === 0) return { rejections: new Map(), warnings: new Map(), owners: new Map(), started: new Set() };
  const callbacks = toCallbackRows(ends);
  const withoutTexts = ends.filter(({ finish, callback }) => !finish.storedResult?.gaps.length && !callback?.gaps?.length);
  const tokens = toTokenRows(ends);
  const origins = callbacks.map(({ origin }) => origin);
  const [owners, rejections, warnings, started] = await Promise.all([
    origins.length > 0 ? takeOrigins(origins, ends[0]?.deliverer ?? null, transaction) : new Map<string, string>(),
    rejectApprovals(
      ends.map(({ task, finish }) => ({ task: task.seq, reason: finish.result.error ?? "The task has ended." })),
      transaction,
    ),
    settleBudgets(ends, transaction),
    findStarted(ends, transaction),
    transaction.query(updateTasks, [...toColumns(endNames, ends.map(toTaskRow)), transaction.now, Date.now()]),
    transaction.query(deleteUnusedTexts, [withoutTexts.map(({ task }) => task.seq)]),
    callbacks.length > 0 ? transaction.query(insertCallbacks, [...toColumns(callbackNames, callbacks), transaction.now]) : null,
    tokens.length > 0 ? transaction.query(upsertTokens, [...toColumns(tokenNames, tokens), transaction.now]) : null,
    addUsageOf(ends, transaction),
  ]);
  return { rejections, warnings, owners, started };
}

/** All ends of a batch are those of one node. */
async function addUsageOf(ends: readonly AllowedEnd[], transaction: Transaction): Promise<void> {
  const [first] = ends;
  if (first === undefined) return;
  await addUsage(first.rollup.sum(ends.map((end) => ({ ...end, now: transaction.now }))), first.node, transaction);
}

/** Replaces the reservations of the tasks by what they have used. Returns the warnings by task. */
async function settleBudgets(ends: readonly AllowedEnd[], transaction: Transaction): Promise<Map<number, NewEvent[]>> {
  const limited = ends.filter(({ task }) => task.budgets !== undefined);
  const changes = limited.map(({ task, finish }): HeldChange => {
    const total = toRunTotal(finish);
    return { task: task.seq, change: (period, reservation) => settle(period, reservation, total) };
  });
  const limitsAt = limited[0]?.limitsAt ?? (() => []);
  const outcomes = await changeReservations(changes, { limitsAt, next: "ended" }, transaction);
  return new Map(outcomes.map(({ events }, index) => [limited[index]?.task.seq ?? 0, events]));
}

const endNames = ["seq", "state", "result", "gaps", "model", "cost_usd", "cost_source", "usage", "error_code", "attempts"] as const;
const updateTasks = {
  name: "finish_tasks",
  text: `UPDATE task t SET state = given.state, finished_at = $11, ran_to = $12, result = given.result, result_gaps = given.gaps,
      model = coalesce(given.model, t.model), cost_usd = given.cost_usd,
      cost_source = given.cost_source, usage = given.usage, error_code = given.error_code,
      attempts = given.attempts
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::double precision[], $7::text[], $8::text[],
      $9::text[], $10::text[])
      AS given (${endNames.join(", ")}) WHERE t.seq = given.seq`,
};

const toTaskRow = ({ task, finish, resultJson }: AllowedEnd) => ({
  seq: task.seq,
  state: finish.state,
  result: resultJson,
  gaps: encodeGaps(finish.storedResult?.gaps ?? []),
  ...toEndedSummary(finish.result),
});

/** After a crash between storing a text and the end of its task, no result refers to the text. */
const deleteUnusedTexts = { name: "delete_unused_texts", text: "DELETE FROM text_chunk WHERE task = ANY ($1::bigint[])" };

const callbackNames = ["task", "tenant", "url", "origin", "body", "body_gaps", "message_id"] as const;
const insertCallbacks = {
  name: "insert_callbacks",
  text: `INSERT INTO callback (${callbackNames.join(", ")}, state, next_at, updated_at)
    SELECT given.*, 'pending', $8::bigint, $8::bigint
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS given`,
};

function toCallbackRows(ends: readonly AllowedEnd[]) {
  return ends.flatMap(({ task, callback, resultJson }) => {
    if (callback === null) return [];
    const { url, origin, messageId = null } = callback;
    const { body, gaps } = toStoredBody(callback, resultJson);
    return [{ task: task.seq, tenant: task.tenant, url, origin, body, body_gaps: gaps, message_id: messageId }];
  });
}

const tokenNames = ["tenant", "provider", "agent_id", "token"] as const;
/** Sorted, because two nodes that insert the same tokens in a different order would deadlock. */
const upsertTokens = {
  name: "upsert_tokens",
  text: `INSERT INTO resume_token (${tokenNames.join(", ")}, used_at)
    SELECT DISTINCT ${tokenNames.join(", ")}, $5::bigint
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (${tokenNames.join(", ")}) ORDER BY 1, 2, 3, 4
    ON CONFLICT (${tokenNames.join(", ")}) DO UPDATE SET used_at = excluded.used_at`,
};

function toTokenRows(ends: readonly AllowedEnd[]) {
  return ends.flatMap(({ task: { tenant, provider, agentId }, finish: { result } }) =>
    result.resumeToken === undefined ? [] : [{ tenant, provider, agent_id: agentId, token: toColumnText(result.resumeToken) }],
  );
}

/** Finds the queued tasks that a limit has returned to the queue, whose start is in the log already. */
async function findStarted(ends: readonly AllowedEnd[], transaction: Transaction): Promise<ReadonlySet<number>> {
  const asked = ends.filter(({ from, task }) => from === "queued" && task.request.whenLimited === "wait").map(({ task }) => task.seq);
  const rows = asked.length === 0 ? [] : await transaction.query(selectStarted, [asked]);
  return new Set(rows.map(({ seq }) => Number(seq)));
}

const selectStarted = { name: "select_started", text: "SELECT seq FROM task WHERE seq = ANY ($1::bigint[]) AND start_after IS NOT NULL" };

function toOutcome(end: AllowedEnd | undefined, now: number, { rejections, warnings, owners, started }: Written): Outcome<Ended | null> {
  if (end === undefined) return { output: null };
  const { task, from, finish, callback } = end;
  const events = (warnings.get(task.seq) ?? []).map((warning) => ({ task, ...warning }));
  const start = from === "queued" && task.restarts === 0 && !started.has(task.seq) ? [{ task, ...toStartEvent(task) }] : [];
  return {
    output: {
      task: { ...task, state: finish.state, finishedAt: now, result: finish.result },
      callback: callback && {
        toCallback: (readGapped) => toNewDueCallback(task, callback, { finishedAt: now, readGapped }),
        owner: owners.get(callback.origin) ?? null,
      },
    },
    events: [...start, ...(rejections.get(task.seq) ?? []), ...events, { task, ...finish.event }],
  };
}
