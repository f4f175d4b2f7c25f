import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import { SESSION_LIFETIME_MS, type SessionStore } from "./interface.ts";
import { sessionColumns, toStoredSession } from "./rows.ts";

/** Creates the operations of sessions. */
export function createSessionOperations(driver: SqliteDriver, clock: () => number) {
  /** A session that would live longer than any new one is from before the system clock was set back, so it counts as expired. */
  const removeExpired = (now: number): number =>
    driver.run("DELETE FROM session WHERE expires_at <= ? OR expires_at > ?", now, now + SESSION_LIFETIME_MS);

  const operations: SessionStore = {
    insertSession: ({ hash, principal, tenant, scopes, tokenProof, tokenExpiresAt }, maxPerPrincipal) =>
      driver.write(() => {
        const now = clock();
        removeExpired(now);
        driver.run(
          `DELETE FROM session WHERE hash IN (
             SELECT hash FROM session WHERE tenant = ? AND principal = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?
           )`,
          ...[tenant, principal, maxPerPrincipal - 1],
        );
        const expiresAt = Math.min(now + SESSION_LIFETIME_MS, tokenExpiresAt ?? Number.POSITIVE_INFINITY);
        driver.run(
          "INSERT INTO session (hash, principal, tenant, scopes, token_proof, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
          hash,
          principal,
          tenant,
          JSON.stringify(scopes),
          tokenProof,
          expiresAt,
        );
        return expiresAt;
      }),
    async findSession(hash) {
      const now = clock();
      const select = `SELECT ${sessionColumns} FROM session WHERE hash = ? AND expires_at > ? AND expires_at <= ?`;
      const row = driver.get(select, hash, now, now + SESSION_LIFETIME_MS);
      return row === undefined ? null : toStoredSession(row);
    },
    deleteSession: (hash) => driver.write(() => driver.run("DELETE FROM session WHERE hash = ?", hash) === 1),
  };

  return { removeExpired, operations };
}
