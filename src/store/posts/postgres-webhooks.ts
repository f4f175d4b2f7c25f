import { toColumnText } from "../column-text.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock, toColumns, toStatement } from "../engines/postgres/statements.ts";
import { lastEventNumber } from "../events/postgres.ts";
import { callbackStates, type NewDelivery, type WebhookKey, type WebhookStore } from "./interface.ts";
import {
  deliveryColumns,
  MAX_COUNT,
  MAX_EXAMINED_EVENTS,
  toWebhookCounts,
  toWebhookDelivery,
  toWebhookPage,
  webhookEventColumns,
} from "./webhook-rows.ts";

/** For this time, no other node posts a delivery that a node has claimed. It is longer than an attempt. */
const CLAIM_MS = 30_000;

/** What the operations of webhooks share with those of callbacks. */
interface Dependencies {
  /** Reads the clock of the server. If it was set back, first restarts the delays of pending deliveries. */
  correctSchedule(): Promise<number>;
  /** Called when other nodes may post deliveries that this node had claimed. */
  onReleased?: () => void;
  /** Stands in for the clock of the server; for tests. */
  clock?: (() => number) | undefined;
}

/**
 * Creates the operations of webhooks. Each write is a separate transaction of one statement and not part of a batch, because all nodes move
 * the same positions, and a batch would keep them locked until its end. A write whose answer is lost is not repeated: the next read of the
 * log and the next claim find its effect.
 */
export function createWebhookOutbox(reader: Reader, { correctSchedule, onReleased = () => {}, clock }: Dependencies): WebhookStore {
  const now = (): number | null => clock?.() ?? null;

  return {
    async addWebhooks(names, from = new Map()) {
      const rows = await reader.all(
        insertWebhooks,
        names,
        names.map((name) => from.get(name) ?? null),
      );
      return new Map(rows.map((row) => [String(row["name"]), Number(row["cursor"])]));
    },
    async removeWebhooks(names) {
      await reader.all(deleteWebhooks, names);
    },
    async readWebhookEvents({ tenant, webhook }, types) {
      const rows = await reader.all(selectEvents, webhook, types, tenant);
      const [first] = rows;
      if (first === undefined) return null;
      const position = { cursor: Number(first["cursor"]), pruned: Number(first["pruned"]), last: Number(first["last"]) };
      return toWebhookPage(
        rows.filter((row) => row["number"] !== null),
        position,
      );
    },
    async addWebhookDeliveries({ deliveries, move }) {
      const columns = toColumns(
        newColumns,
        deliveries.map(({ id, tenant, webhook, type, task, body }: NewDelivery) => ({ id, tenant, webhook, type, task, body })),
      );
      if (move !== undefined) {
        const row = await reader.get(moveAndInsert, ...columns, now(), move.webhook, move.from, move.to);
        return Number(row?.["moved"]) === 1;
      }
      await reader.all(insertDeliveries, ...columns, now());
      return true;
    },
    async listWebhookDeliveries({ tenant, webhook }, state, { before, limit }) {
      const states = state === undefined ? callbackStates : [state];
      const pages = states.map((one) => reader.all(selectDeliveries, tenant, webhook, one, before ?? Number.MAX_SAFE_INTEGER, limit));
      const rows = (await Promise.all(pages)).flat();
      return rows
        .toSorted((a, b) => Number(b["seq"]) - Number(a["seq"]))
        .slice(0, limit)
        .map(toWebhookDelivery);
    },
    countWebhookDeliveries: async (tenant, webhooks) => (await reader.all(selectCounts, tenant, webhooks)).map(toWebhookCounts),
    async findWebhookDelivery({ tenant, webhook }, id) {
      const row = await reader.get(selectDelivery, id, tenant, webhook);
      return row === undefined ? null : toWebhookDelivery(row);
    },
    async listDueWebhooks(webhooks) {
      const rows = await reader.all(selectDueWebhooks, await correctSchedule(), ...toKeyColumns(webhooks));
      return rows.map((row) => ({ tenant: String(row["tenant"]), webhook: String(row["webhook"]) }));
    },
    async claimDueDeliveries({ tenant, webhook }, limit, inProgress) {
      const rows = await reader.all(claimDue, await correctSchedule(), tenant, webhook, [...inProgress], limit);
      return rows.toSorted((a, b) => Number(a["seq"]) - Number(b["seq"])).map(toWebhookDelivery);
    },
    async releaseDeliveries(claimed) {
      const columns = toColumns(
        ["seq", "attempts"],
        claimed.map(({ seq, attempts }) => ({ seq, attempts })),
      );
      if (claimed.length > 0 && (await reader.get(release, now(), ...columns)) !== undefined) onReleased();
    },
    async nextWebhookInMs(webhooks) {
      const time = await correctSchedule();
      const next = (await reader.get(selectNext, time, ...toKeyColumns(webhooks)))?.["at"];
      return typeof next === "number" ? next - time : null;
    },
    async settleDeliveryIfPending({ seq, attempts }, { state, nextInMs, lastStatus, lastError }) {
      const error = lastError === null ? null : toColumnText(lastError);
      const row = await reader.get(settle, now(), seq, attempts, state, nextInMs, lastStatus, error);
      return row === undefined ? null : Number(row["attempts"]);
    },
    async redeliverWebhookIfDead({ tenant, webhook }, id) {
      const row = await reader.get(redeliver, now(), id, tenant, webhook);
      return row === undefined ? null : toWebhookDelivery(row);
    },
  };
}

const toKeyColumns = (webhooks: readonly WebhookKey[]) =>
  toColumns(
    ["tenant", "webhook"],
    webhooks.map(({ tenant, webhook }) => ({ tenant, webhook })),
  );

/** Sorted, because two nodes that lock the same rows in a different order would deadlock. */
const deleteWebhooks = toStatement(
  `WITH locked AS MATERIALIZED (SELECT name FROM webhook WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE)
   DELETE FROM webhook WHERE name IN (SELECT name FROM locked)`,
);
/** Returns the present position of those that have one. Sorted for the same reason. */
const insertWebhooks = toStatement(
  `INSERT INTO webhook (name, cursor)
   SELECT name, least(cursor, ${lastEventNumber}) FROM unnest($1::text[], $2::bigint[]) AS given (name, cursor) ORDER BY name COLLATE "C"
   ON CONFLICT (name) DO UPDATE SET cursor = webhook.cursor RETURNING name, cursor`,
);

/** Returns one row without an event if there is none. All of it is of one snapshot. */
const selectEvents = toStatement(
  `SELECT w.cursor, log.last, log.pruned, page.*
   FROM webhook w
   CROSS JOIN (SELECT ${lastEventNumber} AS last, (SELECT value FROM counter WHERE name = 'pruned') AS pruned) AS log
   LEFT JOIN LATERAL (
     SELECT ${webhookEventColumns}, t.title, t.error_code,
       (SELECT json_object_agg(l.name, l.value)::text FROM task_label l WHERE l.task = t.seq) AS labels
     FROM event e JOIN task t ON t.seq = e.task
     WHERE e.number > greatest(w.cursor, log.pruned) AND e.number <= greatest(w.cursor, log.pruned) + ${MAX_EXAMINED_EVENTS}
       AND e.type = ANY ($2::text[]) AND t.tenant = $3 ORDER BY e.number) AS page ON true
   WHERE w.name = $1 ORDER BY page.number`,
);

const newColumns = ["id", "tenant", "webhook", "type", "task", "body"] as const;
/** Waits for the deletion of a task that is under way, which would not see the delivery. */
const keptTasks = "kept AS MATERIALIZED (SELECT seq, tenant FROM task WHERE seq = ANY ($5::bigint[]) ORDER BY seq FOR KEY SHARE)";
const insertInto = `INSERT INTO webhook_delivery (${newColumns.join(", ")}, state, next_at, created_at, updated_at)
  SELECT given.*, 'pending', clock.now, clock.now, clock.now`;
const givenRows = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[]) AS given (${newColumns.join(", ")})
  WHERE given.task IS NULL OR EXISTS (SELECT 1 FROM kept WHERE kept.seq = given.task AND kept.tenant = given.tenant)
  ON CONFLICT (id) DO NOTHING`;
const clockFrom = (parameter: string): string => `clock AS MATERIALIZED (SELECT coalesce(${parameter}::bigint, ${serverClock}) AS now)`;
/** Repeated if its answer is lost. */
const insertDeliveries = toStatement(`WITH ${clockFrom("$7")}, ${keptTasks} ${insertInto} FROM clock, ${givenRows}`);
/** Of several nodes that move one position at the same time, the others wait for its row and then find that it has moved. */
const moveAndInsert = toStatement(
  `WITH ${clockFrom("$7")}, ${keptTasks},
   moved AS (UPDATE webhook SET cursor = $10::bigint WHERE name = $8::text AND cursor = $9::bigint RETURNING 1),
   added AS (${insertInto} FROM moved, clock, ${givenRows})
   SELECT count(*) AS moved FROM moved`,
);

const selectDeliveries = toStatement(
  `SELECT ${deliveryColumns} FROM webhook_delivery WHERE tenant = $1 AND webhook = $2 AND state = $3 AND seq < $4 ORDER BY seq DESC LIMIT $5`,
);
/** The offset keeps PostgreSQL from reading all deliveries of the webhook. */
const selectDelivery = toStatement(
  `SELECT ${deliveryColumns} FROM (SELECT * FROM webhook_delivery WHERE id = $1 OFFSET 0) AS found WHERE tenant = $2 AND webhook = $3`,
);
const countOf = (state: string): string =>
  `(SELECT count(*) FROM (
     SELECT 1 FROM webhook_delivery d WHERE d.tenant = $1 AND d.webhook = given.webhook AND d.state = '${state}' LIMIT ${MAX_COUNT}) AS counted)`;
const selectCounts = toStatement(
  `SELECT given.webhook, ${countOf("pending")} AS pending, ${countOf("dead")} AS dead FROM unnest($2::text[]) AS given (webhook)`,
);

/** The pending deliveries to each of the given webhooks, which an index contains in the order of their time. */
const pendingOfGiven = `FROM webhook_delivery d WHERE d.tenant = given.tenant AND d.webhook = given.webhook AND d.state = 'pending'`;
const givenWebhooks = "unnest($2::text[], $3::text[]) AS given (tenant, webhook)";
const selectDueWebhooks = toStatement(
  `SELECT given.tenant, given.webhook FROM ${givenWebhooks} WHERE EXISTS (SELECT 1 ${pendingOfGiven} AND d.next_at <= $1)`,
);
const selectNext = toStatement(`SELECT min((SELECT min(d.next_at) ${pendingOfGiven} AND d.next_at > $1)) AS at FROM ${givenWebhooks}`);
const claimDue = toStatement(
  `WITH due AS MATERIALIZED (
     SELECT seq FROM webhook_delivery WHERE tenant = $2 AND webhook = $3 AND state = 'pending' AND next_at <= $1 AND seq <> ALL ($4::bigint[])
     ORDER BY next_at, seq LIMIT $5 FOR UPDATE SKIP LOCKED)
   UPDATE webhook_delivery SET next_at = $1::bigint + ${CLAIM_MS}, updated_at = $1 FROM due
   WHERE webhook_delivery.seq = due.seq RETURNING ${deliveryColumns.replace("seq", "webhook_delivery.seq")}`,
);
/** Sorted, because two nodes that lock the same rows in a different order would deadlock. */
const release = toStatement(
  `WITH clock AS MATERIALIZED (SELECT coalesce($1::bigint, ${serverClock}) AS now),
   locked AS MATERIALIZED (
     SELECT d.seq FROM unnest($2::bigint[], $3::integer[]) AS given (seq, attempts)
     JOIN webhook_delivery d ON d.seq = given.seq AND d.attempts = given.attempts AND d.state = 'pending' ORDER BY d.seq FOR UPDATE OF d)
   UPDATE webhook_delivery SET next_at = clock.now, updated_at = clock.now FROM locked, clock
   WHERE webhook_delivery.seq = locked.seq RETURNING 1 AS released`,
);
const settle = toStatement(
  `UPDATE webhook_delivery SET state = $4::text, attempts = attempts + 1, next_at = clock.now + $5::bigint, last_status = $6::integer,
     last_error = $7::text, updated_at = clock.now
   FROM (SELECT coalesce($1::bigint, ${serverClock}) AS now) AS clock
   WHERE seq = $2 AND state = 'pending' AND attempts = $3 RETURNING attempts`,
);
const redeliver = toStatement(
  `UPDATE webhook_delivery SET state = 'pending', round_start = attempts, next_at = clock.now, updated_at = clock.now
   FROM (SELECT coalesce($1::bigint, ${serverClock}) AS now) AS clock
   WHERE id = $2 AND tenant = $3 AND webhook = $4 AND state = 'dead' RETURNING ${deliveryColumns}`,
);
