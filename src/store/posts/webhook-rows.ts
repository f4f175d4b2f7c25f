import { type StoredRow, toTaskIdentity } from "../tasks/rows.ts";
import type { CallbackState, WebhookCounts, WebhookDelivery, WebhookEvent, WebhookPage } from "./interface.ts";

/** Maximum events that one read of a webhook examines. */
export const MAX_EXAMINED_EVENTS = 1000;
/** Maximum deliveries of a state that are counted. With SQLite, a longer count would delay all requests. */
export const MAX_COUNT = 10_000;

/** The columns of `toWebhookDelivery`. */
export const deliveryColumns = `seq, id, tenant, webhook, type, task, body, state, attempts, round_start, next_at, last_status, last_error,
  created_at, updated_at`;

/** A row of a delivery. */
export const toWebhookDelivery = (row: StoredRow): WebhookDelivery => ({
  seq: Number(row["seq"]),
  id: String(row["id"]),
  tenant: String(row["tenant"]),
  webhook: String(row["webhook"]),
  type: String(row["type"]),
  task: row["task"] as number | null,
  body: String(row["body"]),
  state: row["state"] as CallbackState,
  attempts: Number(row["attempts"]),
  roundAttempts: Number(row["attempts"]) - Number(row["round_start"]),
  nextAttemptAt: row["next_at"] as number | null,
  lastStatus: row["last_status"] as number | null,
  lastError: row["last_error"] as string | null,
  createdAt: Number(row["created_at"]),
  updatedAt: Number(row["updated_at"]),
});

/** The columns of `toWebhookEvent`, of the event `e` and its task `t`, without the summary. Only the beginning of the data is read. */
export const webhookEventColumns = `e.number, e.type, e.at, substr(e.data, 1, 256) AS data, t.seq, t.tenant, t.id, t.parent_id, t.agent_id, t.provider`;

/** An event with the summary of its task. */
const toWebhookEvent = (row: StoredRow): WebhookEvent => ({
  number: Number(row["number"]),
  task: toTaskIdentity(row),
  type: row["type"] as WebhookEvent["type"],
  at: Number(row["at"]),
  title: row["title"] as string | null,
  labels: JSON.parse(String(row["labels"] ?? "{}")) as WebhookEvent["labels"],
  errorCode: row["error_code"] as string | null,
  approvalId: String(row["type"]).startsWith("tool.approval_") ? findApprovalId(String(row["data"])) : null,
});

/** The id is the first field of the data. */
const findApprovalId = (data: string): string | null => /^\{"approvalId":"([^"\\]+)"/.exec(data)?.[1] ?? null;

/** The number of the first event that a webhook has not seen, less 1: retention may have deleted the events at its position. */
export const startOf = ({ cursor, pruned }: { cursor: number; pruned: number }): number => Math.max(cursor, pruned);

/** The events after the position of a webhook, of a log that ends with `last`. */
export function toWebhookPage(
  rows: readonly StoredRow[],
  { cursor, pruned, last }: { cursor: number; pruned: number; last: number },
): WebhookPage {
  const through = Math.max(cursor, Math.min(startOf({ cursor, pruned }) + MAX_EXAMINED_EVENTS, last));
  return { cursor, through, hasMore: through < last, isBehind: cursor < pruned, events: rows.map(toWebhookEvent) };
}

/** A row of the counts of a webhook. */
export const toWebhookCounts = (row: StoredRow): WebhookCounts => ({
  webhook: String(row["webhook"]),
  pending: Number(row["pending"]),
  dead: Number(row["dead"]),
});
