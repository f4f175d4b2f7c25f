import { toColumnText } from "../column-text.ts";
import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import { callbackStates, type WebhookStore } from "./interface.ts";
import {
  deliveryColumns,
  MAX_COUNT,
  MAX_EXAMINED_EVENTS,
  startOf,
  toWebhookCounts,
  toWebhookDelivery,
  toWebhookPage,
  webhookEventColumns,
} from "./webhook-rows.ts";

/** The clock, which the schedule of callbacks corrects for deliveries too. */
interface Dependencies {
  clock: () => number;
  /** Reads the clock. If it was set back, first restarts the delays of pending deliveries. */
  correctSchedule(): Promise<number>;
}

/** The operations of webhooks. One process posts all deliveries, so a claim is only a read. */
export function createWebhookOperations(driver: SqliteDriver, { clock, correctSchedule }: Dependencies) {
  const lastNumber = (): number => Number(driver.get("SELECT value FROM counter WHERE name = 'event'")?.["value"]);

  function findDelivery(tenant: string, webhook: string, id: string) {
    const row = driver.get(
      `SELECT ${deliveryColumns} FROM webhook_delivery WHERE id = ? AND tenant = ? AND webhook = ?`,
      id,
      tenant,
      webhook,
    );
    return row === undefined ? null : toWebhookDelivery(row);
  }

  const operations: WebhookStore = {
    ...createOutboxOperations(driver, { clock, correctSchedule }),
    removeWebhooks: (names) =>
      driver.write(() => {
        for (const name of names) driver.run("DELETE FROM webhook WHERE name = ?", name);
      }),
    addWebhooks: (names, from = new Map()) =>
      driver.write(() => {
        const positions = names.map((name): [string, number] => {
          const cursor = Math.min(from.get(name) ?? Number.POSITIVE_INFINITY, lastNumber());
          return [name, Number(driver.get(insertWebhook, name, cursor)?.["cursor"])];
        });
        return new Map(positions);
      }),
    async readWebhookEvents({ tenant, webhook }, types) {
      const position = driver.get(
        "SELECT cursor, (SELECT value FROM counter WHERE name = 'pruned') AS pruned FROM webhook WHERE name = ?",
        webhook,
      );
      if (position === undefined) return null;
      const [cursor, pruned, last] = [Number(position["cursor"]), Number(position["pruned"]), lastNumber()];
      const start = startOf({ cursor, pruned });
      const rows = driver.all(selectEvents, start, Math.min(start + MAX_EXAMINED_EVENTS, last), JSON.stringify(types), tenant);
      return toWebhookPage(rows, { cursor, pruned, last });
    },
    addWebhookDeliveries: ({ deliveries, move }) =>
      driver.write(
        () => {
          if (move !== undefined && driver.run(moveCursor, move.to, move.webhook, move.from) === 0) return false;
          const now = clock();
          for (const { id, tenant, webhook, type, task, body } of deliveries)
            driver.run(insertDelivery, id, tenant, webhook, type, task, body, now, now, now, task, task, tenant);
          return true;
        },
        { lazy: true, bytes: deliveries.reduce((sum, { body }) => sum + body.length, 0) },
      ),
    async listWebhookDeliveries({ tenant, webhook }, state, { before, limit }) {
      const select = `SELECT ${deliveryColumns} FROM webhook_delivery WHERE tenant = ? AND webhook = ? AND state = ? AND seq < ?
        ORDER BY seq DESC LIMIT ?`;
      const states = state === undefined ? callbackStates : [state];
      const rows = states.flatMap((one) => driver.all(select, tenant, webhook, one, before ?? Number.MAX_SAFE_INTEGER, limit));
      rows.sort((a, b) => Number(b["seq"]) - Number(a["seq"]));
      return rows.slice(0, limit).map(toWebhookDelivery);
    },
    async countWebhookDeliveries(tenant, webhooks) {
      const count = (state: string) =>
        `(SELECT count(*) FROM (
           SELECT 1 FROM webhook_delivery WHERE tenant = ? AND webhook = given.value AND state = '${state}' LIMIT ${MAX_COUNT}))`;
      const select = `SELECT given.value AS webhook, ${count("pending")} AS pending, ${count("dead")} AS dead FROM json_each(?) AS given`;
      return driver.all(select, tenant, tenant, JSON.stringify(webhooks)).map(toWebhookCounts);
    },
    findWebhookDelivery: async ({ tenant, webhook }, id) => findDelivery(tenant, webhook, id),
    redeliverWebhookIfDead: ({ tenant, webhook }, id) =>
      driver.write(() => {
        const now = clock();
        const changed = driver.run(
          `UPDATE webhook_delivery SET state = 'pending', round_start = attempts, next_at = ?, updated_at = ?
           WHERE id = ? AND tenant = ? AND webhook = ? AND state = 'dead'`,
          now,
          now,
          id,
          tenant,
          webhook,
        );
        return changed === 1 ? findDelivery(tenant, webhook, id) : null;
      }),
  };

  return {
    operations,
    /** Deletes old deliveries, inside an operation that is already running. Returns their number. */
    prune: (before: number, limit: number): number =>
      driver.run(
        "DELETE FROM webhook_delivery WHERE seq IN (SELECT seq FROM webhook_delivery WHERE created_at < ? LIMIT ?)",
        before,
        limit,
      ),
  };
}

/** The operations of the worker that posts deliveries. */
function createOutboxOperations(driver: SqliteDriver, { clock, correctSchedule }: Dependencies) {
  return {
    async listDueWebhooks(webhooks) {
      const now = await correctSchedule();
      return webhooks.filter(({ tenant, webhook }) =>
        driver.get(`SELECT 1 AS due ${pending} AND next_at <= ? LIMIT 1`, tenant, webhook, now),
      );
    },
    async claimDueDeliveries({ tenant, webhook }, limit, inProgress) {
      const now = await correctSchedule();
      const rows = driver.all(
        `SELECT ${deliveryColumns} ${pending} AND next_at <= ? ORDER BY next_at, seq LIMIT ?`,
        tenant,
        webhook,
        now,
        limit + inProgress.size,
      );
      return rows
        .filter((row) => !inProgress.has(Number(row["seq"])))
        .slice(0, limit)
        .map(toWebhookDelivery);
    },
    async releaseDeliveries() {},
    async nextWebhookInMs(webhooks) {
      const now = await correctSchedule();
      const times = webhooks.map(({ tenant, webhook }) =>
        driver.get(`SELECT min(next_at) AS at ${pending} AND next_at > ?`, tenant, webhook, now),
      );
      const delays = times.flatMap((row) => (typeof row?.["at"] === "number" ? [row["at"] - now] : []));
      return delays.length === 0 ? null : Math.min(...delays);
    },
    settleDeliveryIfPending: ({ seq, attempts }, { state, nextInMs, lastStatus, lastError }) =>
      driver.write(
        () => {
          const now = clock();
          const row = driver.get(
            `UPDATE webhook_delivery SET state = ?, attempts = attempts + 1, next_at = ?, last_status = ?, last_error = ?, updated_at = ?
             WHERE seq = ? AND state = 'pending' AND attempts = ? RETURNING attempts`,
            state,
            nextInMs === null ? null : now + nextInMs,
            lastStatus,
            lastError === null ? null : toColumnText(lastError),
            now,
            seq,
            attempts,
          );
          return row === undefined ? null : Number(row["attempts"]);
        },
        { lazy: true, patient: true },
      ),
  } satisfies Partial<WebhookStore>;
}

/** The pending deliveries to one webhook, in the order of the index. */
const pending = "FROM webhook_delivery WHERE tenant = ? AND webhook = ? AND state = 'pending'";

/** Returns the present position if there is one. */
const insertWebhook = "INSERT INTO webhook (name, cursor) VALUES (?, ?) ON CONFLICT DO UPDATE SET cursor = webhook.cursor RETURNING cursor";
const moveCursor = "UPDATE webhook SET cursor = ? WHERE name = ? AND cursor = ?";

const insertDelivery = `INSERT INTO webhook_delivery (id, tenant, webhook, type, task, body, state, next_at, created_at, updated_at)
  SELECT ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ? WHERE ? IS NULL OR EXISTS (SELECT 1 FROM task WHERE seq = ? AND tenant = ?)
  ON CONFLICT (id) DO NOTHING`;

/** In this order of the tables, only the events of the range are read. */
const selectEvents = `SELECT ${webhookEventColumns}, s.title, s.error_code,
    (SELECT json_group_object(name, value) FROM task_label l WHERE l.task = t.seq) AS labels
  FROM event e CROSS JOIN task t ON t.seq = e.task LEFT JOIN task_summary s ON s.task = t.seq
  WHERE e.number > ? AND e.number <= ? AND e.type IN (SELECT value FROM json_each(?)) AND t.tenant = ? ORDER BY e.number`;
