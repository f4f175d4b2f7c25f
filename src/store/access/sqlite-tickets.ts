import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import type { TicketStore } from "./interface.ts";
import { TICKET_LIFETIME_MS } from "./interface.ts";
import { toRedeemedTicket } from "./rows.ts";

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
