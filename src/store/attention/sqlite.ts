import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import type { AttentionStore } from "./interface.ts";
import { readAttention, selectFaults } from "./rows.ts";

/** Creates the operations on what needs a person. Acknowledgements are columns, so they are deleted with what they acknowledge. */
export function createAttentionOperations(driver: SqliteDriver, clock: () => number): AttentionStore {
  return {
    readAttention: (tenant, query) =>
      readAttention(
        {
          all: async (sql, values) =>
            driver.all(sql, ...values.map((value) => (typeof value === "object" ? JSON.stringify(value) : value))),
          summary: { join: "LEFT JOIN task_summary s ON s.task = t.seq", alias: "s" },
          isOneOf: (column) => `${column} IN (SELECT value FROM json_each(?))`,
          useIndex: (name) => `INDEXED BY ${name}`,
        },
        tenant,
        query,
      ),
    isFault: async (selection, { isNew = false } = {}) => {
      const { table, alias, flag, where, values } = selectFaults(selection);
      const condition = isNew ? `${where} AND ${flag} = 0` : where;
      return driver.get(`SELECT 1 AS found FROM ${table} ${alias} WHERE ${condition} LIMIT 1`, ...values) !== undefined;
    },
    acknowledgeFaults: (selection, by, limit) =>
      driver.write(() => {
        const { table, alias, key, flag, where, values } = selectFaults(selection);
        return driver.run(
          `UPDATE ${table} SET ${selection.kind === "failure" ? "" : "acknowledged_attempts = attempts,"} acknowledged_by = ?,
             acknowledged_at = ? WHERE ${key} IN (
               SELECT ${alias}.${key} FROM ${table} ${alias} WHERE ${where} AND ${flag} = 0 LIMIT ?)`,
          ...[by, clock(), ...values, limit],
        );
      }),
    async listAdapterAcknowledgements(tenant) {
      const rows = driver.all("SELECT provider, acknowledged_by, acknowledged_at FROM adapter_acknowledgement WHERE tenant = ?", tenant);
      return new Map(
        rows.map((row) => [String(row["provider"]), { by: String(row["acknowledged_by"]), at: Number(row["acknowledged_at"]) }]),
      );
    },
    acknowledgeAdapter: (tenant, provider, by) =>
      driver.write(
        () =>
          driver.run(
            `INSERT INTO adapter_acknowledgement (tenant, provider, acknowledged_by, acknowledged_at) VALUES (?, ?, ?, ?)
             ON CONFLICT DO NOTHING`,
            ...[tenant, provider, by, clock()],
          ) === 1,
      ),
    forgetAdapterAcknowledgements: (provider) =>
      driver.write(() => void driver.run("DELETE FROM adapter_acknowledgement WHERE provider = ?", provider), {
        lazy: true,
        patient: true,
      }),
  };
}
