import { randomBytes } from "node:crypto";
import { BridgeError } from "../errors.ts";
import { derivesFrom, type Principal, restrictScopes, type Scope } from "./principal.ts";

/** How long a ticket is valid. */
export const TICKET_LIFETIME_MS = 60_000;
/** Maximum unused tickets of one tenant. */
export const MAX_TICKETS_PER_TENANT = 1000;

export type Tickets = ReturnType<typeof createTickets>;

/**
 * Creates the tickets of this process. A ticket replaces a token once, for browsers, which cannot send a header when
 * they open a stream. Tickets are kept in memory only, because a client asks for a new one after a restart anyway.
 */
export function createTickets({ clock = Date.now }: { clock?: () => number } = {}) {
  const unusedTickets = new Map<string, { principal: Principal; expiresAt: number }>();

  /** A ticket that would live longer than any new ticket was issued before the system clock was set back, so it counts as expired. */
  const isExpired = (expiresAt: number): boolean => expiresAt <= clock() || expiresAt > clock() + TICKET_LIFETIME_MS;

  /**
   * Stops at the first valid ticket: tickets expire in the order of issue, except those whose token expires sooner.
   * `redeem` checks again.
   */
  function removeExpired(): void {
    for (const [ticket, { expiresAt }] of unusedTickets) {
      if (!isExpired(expiresAt)) return;
      unusedTickets.delete(ticket);
    }
  }

  function countTickets(tenant: string): number {
    let count = 0;
    for (const { principal } of unusedTickets.values()) if (principal.tenant === tenant) count += 1;
    return count;
  }

  return {
    /**
     * Issues a ticket for the principal and returns it with its expiry in ms since the epoch. `granted` defaults to all
     * scopes of the principal. Throws BridgeError `scope_missing` if the principal lacks one of them, and `overloaded`
     * if its tenant has too many unused tickets.
     */
    issue(principal: Principal, granted?: readonly Scope[]): { ticket: string; expiresAt: number } {
      if (granted !== undefined) rejectMissingScopes(principal, granted);
      removeExpired();
      if (countTickets(principal.tenant) >= MAX_TICKETS_PER_TENANT)
        throw new BridgeError(
          "overloaded",
          `This tenant has the maximum of ${MAX_TICKETS_PER_TENANT} unused tickets. Try again when one expires.`,
        );
      const ticket = `tkt_${randomBytes(32).toString("base64url")}`;
      const expiresAt = Math.min(clock() + TICKET_LIFETIME_MS, principal.expiresAt ?? Number.POSITIVE_INFINITY);
      unusedTickets.set(ticket, { principal: granted === undefined ? principal : restrictScopes(principal, granted), expiresAt });
      return { ticket, expiresAt };
    },
    /** Uses up the ticket and returns its principal; null if the ticket is unknown, used or expired. */
    redeem(ticket: string): Principal | null {
      const found = unusedTickets.get(ticket);
      unusedTickets.delete(ticket);
      return found !== undefined && !isExpired(found.expiresAt) ? found.principal : null;
    },
    /** Removes the unused tickets of a principal whose token was revoked. */
    revoke(principal: Principal): void {
      for (const [ticket, issued] of unusedTickets) if (derivesFrom(issued.principal, principal)) unusedTickets.delete(ticket);
    },
  };
}

function rejectMissingScopes(principal: Principal, granted: readonly Scope[]): void {
  const missing = granted.filter((scope) => !principal.scopes.has(scope));
  if (missing.length === 0) return;
  throw new BridgeError("scope_missing", `A ticket cannot have a scope that its token lacks: ${missing.join(", ")}.`, {
    errors: missing.map((scope) => ({
      path: `scopes.${granted.indexOf(scope)}`,
      message: `"${scope}" is not a scope of the token; remove it or use another token`,
    })),
  });
}
