import type { Reader } from "../engines/postgres/reader-pool.ts";
import { numberParameters, serverClock, toStatement } from "../engines/postgres/statements.ts";
import type { AttentionStore } from "./interface.ts";
import { readAttention, selectFaults } from "./rows.ts";

/**
 * Creates the operations on what needs a person. Each write is a separate transaction of one statement, because people make few of them.
 * `clock` stands in for the clock of the server, for tests.
 */
export function createAttentionOperations(reader: Reader, clock?: () => number): AttentionStore {
  const now = (): number | null => clock?.() ?? null;
  const prepare = (sql: string) => toStatement(numberParameters(sql));

  return {
    readAttention: (tenant, query) =>
      readAttention(
        {
          all: (sql, values) => reader.all(prepare(sql), ...values),
          summary: { join: "", alias: "t" },
          isOneOf: (column) => `${column} = ANY (?::text[])`,
          useIndex: () => "",
        },
        tenant,
        query,
      ),
    async isFault(selection, { isNew = false } = {}) {
      const { table, alias, flag, where, values } = selectFaults(selection);
      const condition = isNew ? `${where} AND ${flag} = 0` : where;
      return (await reader.get(prepare(`SELECT 1 AS found FROM ${table} ${alias} WHERE ${condition} LIMIT 1`), ...values)) !== undefined;
    },
    async acknowledgeFaults(selection, by, limit) {
      const { table, alias, key, flag, where, values } = selectFaults(selection);
      const isFailure = selection.kind === "failure";
      // Of many rows it passes over locked ones, so that it cannot deadlock with a batch of other writes. For a single row it waits.
      const rows = await reader.all(
        prepare(
          `WITH found AS MATERIALIZED (
             SELECT ${alias}.${key} FROM ${table} ${alias} WHERE ${where} AND ${flag} = 0 LIMIT ? FOR NO KEY UPDATE ${selection.id === undefined ? "SKIP LOCKED" : ""})
           UPDATE ${table} SET ${isFailure ? "" : "acknowledged_attempts = attempts,"} acknowledged_by = ?,
             acknowledged_at = coalesce(?::bigint, ${serverClock})
           FROM found WHERE ${table}.${key} = found.${key} RETURNING 1 AS acknowledged`,
        ),
        ...[...values, limit, by, now()],
      );
      return rows.length;
    },
    async listAdapterAcknowledgements(tenant) {
      const rows = await reader.all(selectAdapters, tenant);
      return new Map(
        rows.map((row) => [String(row["provider"]), { by: String(row["acknowledged_by"]), at: Number(row["acknowledged_at"]) }]),
      );
    },
    acknowledgeAdapter: async (tenant, provider, by) => (await reader.all(insertAdapter, tenant, provider, by, now())).length === 1,
    async forgetAdapterAcknowledgements(provider) {
      await reader.all(deleteAdapter, provider);
    },
  };
}

const selectAdapters = toStatement("SELECT provider, acknowledged_by, acknowledged_at FROM adapter_acknowledgement WHERE tenant = $1");
const insertAdapter = toStatement(
  `INSERT INTO adapter_acknowledgement (tenant, provider, acknowledged_by, acknowledged_at)
   VALUES ($1, $2, $3, coalesce($4::bigint, ${serverClock})) ON CONFLICT DO NOTHING RETURNING 1 AS acknowledged`,
);
const deleteAdapter = toStatement("DELETE FROM adapter_acknowledgement WHERE provider = $1");
