import { toColumnText } from "../column-text.ts";
import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { OperationKind } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toColumns, toStatement } from "../engines/postgres/statements.ts";
import {
  callbackColumns,
  callbackDetailColumns,
  dueCallbackColumns,
  encodeAttempt,
  extendHistory,
  oldestPending,
  pendingOfQueue,
  pendingQueues,
  type ReadGapped,
  toCallback,
  toCallbackDetails,
  toDueCallback,
} from "./callback-rows.ts";
import {
  type Callback,
  type CallbackSettlement,
  type CallbackStore,
  callbackStates,
  type DueCallback,
  type PostQueue,
} from "./interface.ts";
import { isForeign, releaseIdleOriginsOperation, takeOrigins, takeOriginsOperation } from "./postgres-origins.ts";

/** The result of the POST that followed the first `attempts` POSTs. */
interface Settlement extends Pick<DueCallback, "task" | "attempts"> {
  settlement: CallbackSettlement;
}

/** Counts POSTs and settles their callbacks. Returns the number of POSTs; null if the guard does not hold. */
const settleOperation: OperationKind<Settlement, number | null> = {
  name: "settle",
  keyOf: ({ task }) => task.seq,
  isRepeatable: false,
  overlaps: () => true,
  async run(inputs, transaction) {
    const toRow = (input: Settlement) => toSettlementRow(input, transaction.now);
    const rows = await transaction.query(settle, [...toColumns(settlementNames, inputs.map(toRow)), transaction.now]);
    const settled = new Map(rows.map((row) => [Number(row["task"]), Number(row["attempts"])]));
    return inputs.map(({ task, settlement }) => {
      const attempts = settled.get(task.seq);
      if (attempts === undefined) return { output: null };
      return { output: attempts, events: settlement.event === null ? [] : [{ task, ...settlement.event(attempts) }] };
    });
  },
};

const settlementNames = ["task", "attempts", "state", "next_in", "status", "error", "line"] as const;

const settle = {
  name: "settle_callbacks",
  text: `WITH settled AS (
      UPDATE callback c SET state = given.state, attempts = c.attempts + 1, next_at = $8 + given.next_in, last_status = given.status,
        last_error = given.error, updated_at = $8, body = CASE WHEN given.state = 'delivered' THEN NULL ELSE c.body END,
        history = ${extendHistory({ history: "c.history", line: "given.line", position: "strpos" })}
      FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::integer[], $6::text[], $7::text[])
        AS given (${settlementNames.join(", ")})
      WHERE c.task = given.task AND c.state = 'pending' AND c.attempts = given.attempts
      RETURNING c.task, c.attempts, c.state),
    delivered AS (INSERT INTO callback_dedup (task, at) SELECT task, $8 FROM settled WHERE state = 'delivered' ON CONFLICT DO NOTHING)
    SELECT task, attempts FROM settled`,
};

const toSettlementRow = ({ task, attempts, settlement }: Settlement, now: number) => ({
  task: task.seq,
  attempts,
  state: settlement.state,
  next_in: settlement.nextInMs,
  status: settlement.lastStatus,
  error: settlement.lastError === null ? null : toColumnText(settlement.lastError),
  line: encodeAttempt(attempts, settlement, now),
});

/** A new round of attempts for a dead callback. */
interface Redelivery {
  task: number;
  /** The node that takes the origin if no live node has it; null if this node posts no callbacks. */
  deliverer: string | null;
}

/** A callback that was redelivered, and the node that posts it; null if no node has taken its origin yet. */
interface Redelivered {
  callback: Callback;
  owner: string | null;
}

/** Starts new rounds of attempts for dead callbacks. Returns null if the guard does not hold. */
const redeliverOperation: OperationKind<Redelivery, Redelivered | null> = {
  name: "redeliver",
  keyOf: ({ task }) => task,
  isRepeatable: false,
  async run(inputs, transaction) {
    const rows = await transaction.query(redeliver, [inputs.map(({ task }) => task), transaction.now]);
    const { deliverer = null } = inputs[0] ?? {};
    const owners = rows.length === 0 ? new Map<string, string>() : await takeOrigins(rows.map(toOrigin), deliverer, transaction);
    const found = new Map(
      rows.map((row) => [Number(row["seq"]), { callback: toCallback(row), owner: owners.get(toOrigin(row)) ?? null }] as const),
    );
    return inputs.map(({ task }) => ({ output: found.get(task) ?? null }));
  },
};

const toOrigin = (row: Row): string => String(row["origin"]);

const redeliver = {
  name: "redeliver_callbacks",
  text: `UPDATE callback c SET state = 'pending', round_start = c.attempts, next_at = $2, updated_at = $2
    FROM task t WHERE t.seq = c.task AND c.task = ANY ($1::bigint[]) AND c.state = 'dead' RETURNING ${callbackColumns}, c.origin`,
};

/** The parts of a node that writes of callbacks use. */
interface WriteDependencies {
  /** The id of this node. */
  node: string;
  /** Whether this node posts callbacks. */
  delivers: boolean;
  /** Reports a callback that another node has to post: the node that has its origin, or null if none has it. */
  onForeignCallback?(owner: string | null): void;
}

/** The writes of the callback outbox. The end of a task inserts its callback. */
export function createCallbackWrites(
  writer: Pick<BatchWriter, "write">,
  { node, delivers, onForeignCallback = () => {} }: WriteDependencies,
) {
  return {
    settleCallbackIfPending: ({ task, attempts }, settlement) =>
      writer.write(settleOperation, { task, attempts, settlement }, { patient: true }),
    async redeliverCallbackIfDead(task) {
      const redelivered = await writer.write(redeliverOperation, { task, deliverer: delivers ? node : null });
      if (redelivered === null) return null;
      if (redelivered.owner !== node) onForeignCallback(redelivered.owner);
      return redelivered.callback;
    },
  } satisfies Partial<CallbackStore>;
}

/** A node releases origins without pending callbacks after this time, as long as it remembers which origins did not respond. */
const IDLE_ORIGIN_MS = 600_000;

const RELEASE_INTERVAL_MS = 60_000;

/** The other parts of the store that callback reads use. */
interface ReadDependencies {
  readGapped: ReadGapped;
  /** Reads the clock of the server. If it was set back, first restarts the delays of pending callbacks. */
  correctSchedule(): Promise<number>;
  /** The id of this node. */
  node: string;
  /** Whether this node posts callbacks. */
  delivers: boolean;
  writer: Pick<BatchWriter, "write">;
}

/** Reads the callback outbox. Due callbacks are those to the origins that this node has or can take. */
export function createCallbackReads(reader: Reader, { readGapped, correctSchedule, node, delivers, writer }: ReadDependencies) {
  let releasedAt = performance.now();

  async function releaseIdleOrigins(): Promise<void> {
    if (performance.now() - releasedAt < RELEASE_INTERVAL_MS) return;
    releasedAt = performance.now();
    await writer.write(releaseIdleOriginsOperation, { node, idleForMs: IDLE_ORIGIN_MS });
  }

  /** Returns the queues to the origins that this node has, after it has taken those that no live node has. */
  async function takeQueues(queues: readonly (PostQueue & { isOwn: boolean })[]): Promise<PostQueue[]> {
    const origins = queues.filter(({ isOwn }) => !isOwn).map(({ receiver }) => receiver);
    const taken = origins.length === 0 ? new Set() : await writer.write(takeOriginsOperation, { origins, deliverer: node });
    return queues.filter(({ isOwn, receiver }) => isOwn || taken.has(receiver)).map(({ tenant, receiver }) => ({ tenant, receiver }));
  }

  return {
    async findCallback(taskSeq) {
      const row = await reader.get(selectCallback, taskSeq);
      return row === undefined ? null : toCallback(row);
    },
    async findCallbackDetails(taskSeq) {
      const row = await reader.get(selectDetails, taskSeq);
      return row === undefined ? null : toCallbackDetails(row);
    },
    async listCallbacks(tenant, state, { before, limit }) {
      // One index serves lists with and without a state: the newest callbacks are among the newest ones of each state.
      const states = state === undefined ? callbackStates : [state];
      const pages = states.map((one) => reader.all(selectCallbacks, tenant, one, before ?? Number.MAX_SAFE_INTEGER, limit));
      const rows = (await Promise.all(pages)).flat();
      return rows
        .toSorted((a, b) => Number(b["seq"]) - Number(a["seq"]))
        .slice(0, limit)
        .map(toCallback);
    },
    async listDueCallbackQueues() {
      if (!delivers) return [];
      await releaseIdleOrigins();
      const rows = await reader.all(selectDueQueues, await correctSchedule(), node);
      return takeQueues(
        rows.map((row) => ({ tenant: String(row["tenant"]), receiver: String(row["origin"]), isOwn: row["own"] === true })),
      );
    },
    async listDueCallbacks({ tenant, receiver }, limit, inProgress = new Set()) {
      const rows = await reader.all(selectDue, receiver, tenant, await correctSchedule(), [...inProgress], limit, node);
      return rows.map((row) => toDueCallback(row, readGapped));
    },
    async nextCallbackInMs() {
      if (!delivers) return null;
      const now = await correctSchedule();
      const next = (await reader.get(selectNext, now, node))?.["at"];
      return typeof next === "number" ? next - now : null;
    },
    async oldestCallbackMs() {
      const endedAt = (await reader.get(selectOldest))?.["at"];
      return typeof endedAt === "number" ? Math.max(0, (await correctSchedule()) - endedAt) : null;
    },
  } satisfies Partial<CallbackStore>;
}

const fromCallbacks = "FROM callback c JOIN task t ON t.seq = c.task";

const selectCallback = toStatement(`SELECT ${callbackColumns} ${fromCallbacks} WHERE c.task = $1`);

const selectDetails = toStatement(`SELECT ${callbackDetailColumns} ${fromCallbacks} WHERE c.task = $1`);

const selectCallbacks = toStatement(
  `SELECT ${callbackColumns} FROM (
     SELECT * FROM callback WHERE tenant = $1 AND state = $2 AND task < $3 ORDER BY task DESC LIMIT $4) AS c
   JOIN task t ON t.seq = c.task ORDER BY c.task DESC`,
);

const selectOldest = toStatement(oldestPending);

const isAvailable = `NOT ${isForeign({ origin: "queue.origin", node: "$2" })}`;

const selectDueQueues = toStatement(
  `${pendingQueues} SELECT origin, tenant, EXISTS (SELECT 1 FROM callback_origin o WHERE o.origin = queue.origin AND o.node = $2) AS own
   FROM queue WHERE (SELECT min(next_at) ${pendingOfQueue}) <= $1 AND ${isAvailable}`,
);

const selectNext = toStatement(
  `${pendingQueues} SELECT min((SELECT min(next_at) ${pendingOfQueue} AND c.next_at > $1)) AS at FROM queue WHERE ${isAvailable}`,
);

/** Loads only the bodies that are returned, because a body can be long. Finds nothing after another node has taken the origin. */
const selectDue = toStatement(
  `SELECT ${dueCallbackColumns} FROM (
     SELECT task FROM callback c WHERE state = 'pending' AND origin = $1 AND tenant = $2 AND next_at <= $3 AND task <> ALL ($4::bigint[])
       AND EXISTS (SELECT 1 FROM callback_origin o WHERE o.origin = $1 AND o.node = $6)
       AND NOT EXISTS (SELECT 1 FROM callback_dedup d WHERE d.task = c.task) ORDER BY next_at, task LIMIT $5) AS due
   JOIN callback c ON c.task = due.task JOIN task t ON t.seq = c.task ORDER BY c.next_at, c.task`,
);

/** The writes of callbacks, in the order in which a batch runs them. */
export const callbackKinds: readonly AnyKind[] = [settleOperation, redeliverOperation, takeOriginsOperation, releaseIdleOriginsOperation];
