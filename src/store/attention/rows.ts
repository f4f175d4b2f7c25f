import { PROBE_AGENT, PROBE_ID_PREFIX } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { StoredRow } from "../tasks/rows.ts";
import {
  type AttentionQuery,
  type FaultSelection,
  MAX_COUNTED,
  type StoredAttention,
  type StoredAttentionItem,
  type StoredFaultKind,
} from "./interface.ts";

type Value = string | number | readonly string[];

/** The reads of an engine, and the SQL in which engines differ. */
interface AttentionEngine {
  /** Runs a statement with a `?` for each of its values. */
  all(sql: string, values: readonly Value[]): Promise<readonly StoredRow[]>;
  /** What joins the summary of the task `t`, and its alias. */
  summary: { join: string; alias: string };
  /** Tests whether a column is one of the texts of a parameter. */
  isOneOf(column: string): string;
  /** What selects an index of the table before it; empty if the engine chooses by statistics. */
  useIndex(name: string): string;
}

/** Maximum receivers that are listed. */
const MAX_RECEIVERS = 100;

/** Whether the present fault of a row is acknowledged: 1 or 0. Indexes contain these expressions. */
const acknowledgedFlag = (alias: string): string => `(CASE WHEN ${alias}.acknowledged_attempts = ${alias}.attempts THEN 1 ELSE 0 END)`;

/** Whether a failed task `t` is acknowledged: 1 or 0. Its index contains this expression. */
export const failureFlag = "(CASE WHEN t.acknowledged_at IS NULL THEN 0 ELSE 1 END)";

/** The ids of probes: their prefix and a UUID. */
const probeIds = `${PROBE_ID_PREFIX}${[8, 4, 4, 4, 12].map((length) => "_".repeat(length)).join("-")}`;
const isNotProbe = `NOT (t.agent_id = '${PROBE_AGENT}' AND t.id LIKE '${probeIds}')`;

type Kind = StoredAttentionItem["kind"];

/** What the lists of a kind select. */
interface Source {
  columns: string;
  /** The column by which it is counted. */
  receiver: string;
  from: string;
  where: string;
  order: string;
  values: readonly Value[];
}

/** Reads what needs a person: each kind by an index in the order of its list. */
export async function readAttention({ all, ...engine }: AttentionEngine, tenant: string, query: AttentionQuery): Promise<StoredAttention> {
  const { approval, failure, callback, delivery } = createSources(engine, tenant, query);
  const list = async (kind: Kind, { columns, from, where, order, values }: Source) => {
    const rows = await all(`SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT ?`, [...values, query.limit]);
    return rows.map((row) => toItem(kind, row, query.isAcknowledged));
  };
  const count = async ({ from, where, values }: Source): Promise<number> => {
    const counted = `(SELECT 1 AS one FROM ${from} WHERE ${where} LIMIT ${MAX_COUNTED}) AS counted`;
    return Number((await all(`SELECT count(*) AS count FROM ${counted}`, values))[0]?.["count"]);
  };
  const listReceivers = async (kind: "callback" | "delivery", { receiver, from, where, values }: Source) => {
    const counted = `(SELECT ${receiver} AS receiver FROM ${from} WHERE ${where} LIMIT ${MAX_COUNTED}) AS counted`;
    const rows = await all(
      `SELECT receiver, count(*) AS count FROM ${counted} GROUP BY receiver ORDER BY 2 DESC, 1 LIMIT ${MAX_RECEIVERS}`,
      values,
    );
    return rows.map((row) => ({ kind, receiver: String(row["receiver"]), count: Number(row["count"]) }));
  };
  const items = [
    // Approvals are decided, not acknowledged.
    query.isAcknowledged ? [] : list("approval", approval),
    ...[list("failure", failure), list("callback", callback), list("delivery", delivery)],
  ];
  const counts = [query.isAcknowledged ? 0 : count(approval), count(failure), count(callback), count(delivery)] as const;
  const receivers = [listReceivers("callback", callback), listReceivers("delivery", delivery)];
  const [approvals, failures, callbacks, deliveries] = await Promise.all(counts);
  return {
    items: (await Promise.all(items)).flat(),
    counts: { approval: approvals, failure: failures, callback: callbacks, delivery: deliveries },
    receivers: (await Promise.all(receivers)).flat(),
  };
}

function createSources(
  { summary: { join, alias: s }, isOneOf, useIndex }: Omit<AttentionEngine, "all">,
  tenant: string,
  { isAcknowledged, failedSince, webhooks }: AttentionQuery,
): Record<Kind, Source> {
  const flag = isAcknowledged ? 1 : 0;
  const columnsOf = (id: string, { at, receiver, detail, by }: Record<"at" | "receiver" | "detail" | "by", string>): string =>
    `${id}, ${at} AS at, t.id AS task_id, t.agent_id, t.provider, ${s}.title, ${receiver} AS receiver, ${detail} AS detail,
     ${by === "NULL" ? "NULL AS acknowledged_by, NULL AS acknowledged_at" : `${by}.acknowledged_by, ${by}.acknowledged_at`}`;
  return {
    approval: {
      columns: columnsOf("a.id", { at: "a.created_at", receiver: "NULL", detail: "a.tool_name", by: "NULL" }),
      receiver: "NULL",
      from: `approval a CROSS JOIN task t ${join}`,
      where: "a.tenant = ? AND a.state = 'pending' AND t.seq = a.task",
      order: "a.seq",
      values: [tenant],
    },
    failure: {
      columns: columnsOf("t.id", { at: "t.finished_at", receiver: "NULL", detail: `${s}.error_code`, by: "t" }),
      receiver: "NULL",
      from: `task t ${useIndex("task_failed")} ${join}`,
      where: `t.tenant = ? AND t.state = 'failed' AND t.parent_seq IS NULL AND ${failureFlag} = ? AND t.finished_at > ? AND ${isNotProbe}`,
      order: "t.finished_at DESC",
      values: [tenant, flag, failedSince],
    },
    callback: {
      columns: columnsOf("t.id", { at: "c.updated_at", receiver: "c.origin", detail: "c.last_error", by: "c" }),
      receiver: "c.origin",
      from: `callback c ${useIndex("callback_dead")} CROSS JOIN task t ${join}`,
      where: `c.tenant = ? AND c.state = 'dead' AND ${acknowledgedFlag("c")} = ? AND t.seq = c.task AND ${isNotProbe}`,
      order: "c.task DESC",
      values: [tenant, flag],
    },
    delivery: {
      columns: columnsOf("d.id", { at: "d.updated_at", receiver: "d.webhook", detail: "d.last_error", by: "d" }),
      receiver: "d.webhook",
      from: `webhook_delivery d ${useIndex("webhook_delivery_dead")} LEFT JOIN task t ON t.seq = d.task ${join}`,
      where: `d.tenant = ? AND d.state = 'dead' AND ${acknowledgedFlag("d")} = ? AND ${isOneOf("d.webhook")}
        AND (d.task IS NULL OR ${isNotProbe})`,
      order: "d.seq DESC",
      values: [tenant, flag, webhooks],
    },
  };
}

const toItem = (kind: Kind, row: StoredRow, isAcknowledged: boolean): StoredAttentionItem => ({
  kind,
  id: String(row["id"]),
  at: Number(row["at"]),
  task:
    typeof row["task_id"] === "string"
      ? { taskId: row["task_id"], agentId: String(row["agent_id"]), provider: String(row["provider"]) }
      : null,
  title: (row["title"] ?? null) as string | null,
  receiver: (row["receiver"] ?? null) as string | null,
  detail: (row["detail"] ?? null) as string | null,
  acknowledgement: isAcknowledged ? { by: String(row["acknowledged_by"]), at: Number(row["acknowledged_at"]) } : null,
});

/** A table of faults. */
interface FaultTable {
  table: string;
  alias: string;
  key: string;
}

/** The faults of a selection. */
interface SelectedFaults extends FaultTable {
  where: string;
  /** Whether a fault is acknowledged: 1 or 0. */
  flag: string;
  values: readonly (string | number)[];
}

/** The SQL of the faults of a selection, with a `?` for each value. Those that are acknowledged are included. */
export function selectFaults({ tenant, kind, id, receiver, since, until }: FaultSelection): SelectedFaults {
  const { state, id: idIs, receiver: receiverColumn, at, ...table } = faultTables[kind];
  const conditions: [string, ...(string | number)[]][] = [[`${table.alias}.tenant = ? AND ${state}`, tenant]];
  if (id !== undefined) conditions.push([idIs, ...(kind === "callback" ? [tenant, toColumnText(id)] : [toColumnText(id)])]);
  if (receiver !== undefined) conditions.push([`${receiverColumn} = ?`, toColumnText(receiver)]);
  if (since !== undefined) conditions.push([`${at} > ?`, since]);
  if (until !== undefined) conditions.push([`${at} <= ?`, until]);
  return {
    ...table,
    flag: kind === "failure" ? failureFlag : acknowledgedFlag(table.alias),
    where: conditions.map(([sql]) => sql).join(" AND "),
    values: conditions.flatMap(([, ...values]) => values),
  };
}

/** Each with its state, the condition of one fault, and the columns of its receiver and its time. Failures have no receiver. */
const faultTables: Readonly<Record<StoredFaultKind, FaultTable & Record<"state" | "id" | "receiver" | "at", string>>> = {
  failure: {
    ...{ table: "task", alias: "t", key: "seq", receiver: "NULL", at: "t.finished_at" },
    ...{ state: "t.state = 'failed' AND t.parent_seq IS NULL", id: "t.id = ?" },
  },
  callback: {
    ...{ table: "callback", alias: "c", key: "task", receiver: "c.origin", at: "c.updated_at" },
    ...{ state: "c.state = 'dead'", id: "c.task = (SELECT seq FROM task WHERE tenant = ? AND id = ?)" },
  },
  delivery: {
    ...{ table: "webhook_delivery", alias: "d", key: "seq", receiver: "d.webhook", at: "d.updated_at" },
    ...{ state: "d.state = 'dead'", id: "d.id = ?" },
  },
};
