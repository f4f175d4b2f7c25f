import { randomBytes } from "node:crypto";
import { BridgeError } from "../errors.ts";
import { comesFrom, narrow, type Principal, type Scope } from "./principal.ts";

/** How long a ticket is good for. */
export const TICKET_LIFETIME_MS = 60_000;
/** How many unused tickets one tenant may have. */
export const MAX_TICKETS_PER_TENANT = 1000;

/** Single-use stand-ins for a token, for browsers, which cannot send a header with a stream. */
export interface Tickets {
  /**
   * A new ticket for the principal, and when it expires (ms since the epoch). Default: all scopes of the principal. Throws when the principal lacks
   * one of `scopes`, or its tenant holds too many tickets.
   */
  mint(principal: Principal, scopes?: readonly Scope[]): { ticket: string; expiresAt: number };
  /** Whom the ticket speaks for, once; null when it is unknown, used or expired. */
  redeem(ticket: string): Principal | null;
  /** Forgets the tickets of a principal whose token is taken back. */
  withdraw(principal: Principal): void;
}

/** Creates the tickets of this process, in memory: they live for less time than a restart takes a client to notice. */
export function createTickets({ clock = Date.now }: { clock?: () => number } = {}): Tickets {
  const unused = new Map<string, { principal: Principal; expiresAt: number }>();

  /** One that would live longer than any ticket was minted before the system clock was set back. */
  const isExpired = (expiresAt: number): boolean => expiresAt <= clock() || expiresAt > clock() + TICKET_LIFETIME_MS;

  /** Tickets expire in the order in which they were minted, but for those whose token ends sooner; redeeming checks again. */
  function forgetExpired(): void {
    for (const [ticket, { expiresAt }] of unused) {
      if (!isExpired(expiresAt)) return;
      unused.delete(ticket);
    }
  }

  function countOf(tenant: string): number {
    let count = 0;
    for (const { principal } of unused.values()) if (principal.tenant === tenant) count += 1;
    return count;
  }

  return {
    mint(principal, scopes) {
      if (scopes !== undefined) refuseMissingScopes(principal, scopes);
      forgetExpired();
      if (countOf(principal.tenant) >= MAX_TICKETS_PER_TENANT) throw new BridgeError("overloaded", "Too many tickets wait to be used.");
      const ticket = `tkt_${randomBytes(32).toString("base64url")}`;
      const expiresAt = Math.min(clock() + TICKET_LIFETIME_MS, principal.expiresAt ?? Number.POSITIVE_INFINITY);
      unused.set(ticket, { principal: scopes === undefined ? principal : narrow(principal, scopes), expiresAt });
      return { ticket, expiresAt };
    },
    redeem(ticket) {
      const found = unused.get(ticket);
      unused.delete(ticket);
      return found !== undefined && !isExpired(found.expiresAt) ? found.principal : null;
    },
    withdraw(principal) {
      for (const [ticket, minted] of unused) if (comesFrom(minted.principal, principal)) unused.delete(ticket);
    },
  };
}

function refuseMissingScopes(principal: Principal, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !principal.scopes.has(scope));
  if (missing.length === 0) return;
  throw new BridgeError("scope_missing", `A ticket cannot have a scope that its token lacks: ${missing.join(", ")}.`, {
    errors: missing.map((scope) => ({
      path: `scopes.${scopes.indexOf(scope)}`,
      message: `"${scope}" is not a scope of the token; leave it out or use another token`,
    })),
  });
}
