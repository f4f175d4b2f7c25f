import { toColumnText } from "../column-text.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import { toColumns } from "../engines/postgres/columns.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { OperationKind } from "../engines/postgres/operation-kind.ts";
import { encodeAttempt, extendHistory } from "./callback-history.ts";
import { callbackColumns, toCallback } from "./callback-rows.ts";
import type { Callback, CallbackSettlement, CallbackStore, DueCallback } from "./interface.ts";
import { takeOrigins } from "./postgres-origins.ts";

/** The result of the POST that followed the first `attempts` POSTs. */
interface Settlement extends Pick<DueCallback, "task" | "attempts"> {
  settlement: CallbackSettlement;
}

/** Counts POSTs and settles their callbacks. Returns the number of POSTs; null if the guard does not hold. */
export const settleOperation: OperationKind<Settlement, number | null> = {
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
export const redeliverOperation: OperationKind<Redelivery, Redelivered | null> = {
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
interface Dependencies {
  /** The id of this node. */
  node: string;
  /** Whether this node posts callbacks. */
  delivers: boolean;
  /** Reports a callback that another node has to post: the node that has its origin, or null if none has it. */
  onForeignCallback?(owner: string | null): void;
}

/** The writes of the callback outbox. The end of a task inserts its callback. */
export function createCallbackWrites(writer: Pick<BatchWriter, "write">, { node, delivers, onForeignCallback = () => {} }: Dependencies) {
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
