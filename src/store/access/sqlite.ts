import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import { SESSION_LIFETIME_MS, type SessionStore, TICKET_LIFETIME_MS, type TicketStore } from "./interface.ts";
import { sessionColumns, toRedeemedTicket, toStoredSession } from "./rows.ts";

/** Creates the operations of tickets. */
export function createTicketOperations(driver: SqliteDriver, clock: () => number) {
  /** A ticket that would live longer than any new ticket was issued before the system clock was set back, so it counts as expired. */
  const isExpired = (expiresAt: number, now: number): boolean => expiresAt <= now || expiresAt > now + TICKET_LIFETIME_MS;

  const removeExpired = (now: number): number =>
    driver.run("DELETE FROM ticket WHERE expires_at <= ? OR expires_at > ?", now, now + TICKET_LIFETIME_MS);

  const operations = {
    insertTicketIfRoom: ({ hash, principal, tenant, scopes, tokenProof, tokenExpiresAt }, maxPerToken) =>
      driver.write(() => {
        const now = clock();
        removeExpired(now);
        const unused = driver.get("SELECT count(*) AS count FROM ticket WHERE tenant = ? AND principal = ?", tenant, principal);
        if (Number(unused?.["count"]) >= maxPerToken) return null;
        const expiresAt = Math.min(now + TICKET_LIFETIME_MS, tokenExpiresAt ?? Number.POSITIVE_INFINITY);
        driver.run(
          "INSERT INTO ticket (hash, principal, tenant, scopes, token_proof, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
          hash,
          principal,
          tenant,
          JSON.stringify(scopes),
          tokenProof,
          expiresAt,
        );
        return expiresAt;
      }),
    redeemTicket: (hash) =>
      driver.write(() => {
        const row = driver.get("DELETE FROM ticket WHERE hash = ? RETURNING *", hash);
        if (row === undefined || isExpired(Number(row["expires_at"]), clock())) return null;
        return toRedeemedTicket(row);
      }),
  } satisfies Partial<TicketStore>;

  return { removeExpired, operations };
}

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
