import { randomBytes } from "node:crypto";
import { BridgeError } from "../errors.ts";
import { sha256Hex } from "../requests/sha256-hex.ts";
import type { TicketStore } from "../store/access/interface.ts";
import { type Principal, restrictScopes, type Scope } from "./principal.ts";
import { findOwner, proveToken } from "./token-proof.ts";
import type { Tokens } from "./tokens.ts";

/** Maximum unused tickets and links of one token, so that no token keeps the others of its tenant from getting one. */
export const MAX_TICKETS_PER_TOKEN = 1000;

/** What a ticket replaces a token for: one stream, or the sign-in to the console. The prefix separates them. */
const prefixes = { stream: "tkt_", signIn: "lnk_" } as const;
type Purpose = keyof typeof prefixes;

const TICKET_FORMAT = /^(?:tkt|lnk)_[A-Za-z0-9_-]{43}$/;

/** The parts that tickets use. */
interface TicketOptions {
  store: TicketStore;
  tokens: Pick<Tokens, "findByName">;
}

/** What a ticket is for. */
interface TicketRequest {
  purpose?: Purpose;
  scopes?: readonly Scope[] | undefined;
}

/** A ticket, valid once until `expiresAt`, in ms since the epoch. */
export interface Ticket {
  ticket: string;
  expiresAt: number;
}

export type Tickets = ReturnType<typeof createTickets>;

/**
 * Creates the functions that issue and redeem tickets. A ticket replaces a token once, for browsers, which cannot send a header when they
 * open a stream. The store contains only the name of its principal, which is looked up when the ticket is redeemed. A ticket whose token
 * was revoked in the meantime therefore permits nothing.
 */
export function createTickets({ store, tokens }: TicketOptions) {
  return {
    /**
     * Issues a ticket for the principal of a token and returns it with its expiry in ms since the epoch. `granted` defaults to all scopes
     * of the principal. Throws BridgeError `scope_missing` if the principal lacks one of them, `overloaded` if its token has too many
     * unused tickets, and `unauthenticated` if the token was revoked while the request was read.
     */
    async issue(
      principal: Principal,
      { purpose = "stream", scopes: granted = [...principal.scopes] }: TicketRequest = {},
    ): Promise<Ticket> {
      if (principal.derivedFrom !== undefined)
        throw new BridgeError("scope_missing", "A session of the console cannot create tickets. Use the token that created the session.");
      rejectMissingScopes(principal.scopes, granted);
      const { name, tenant, expiresAt: tokenExpiresAt } = principal;
      const token = tokens.findByName(name);
      if (token?.principal !== principal) throw new BridgeError("unauthenticated", "The token is unknown or has expired.");
      const ticket = `${prefixes[purpose]}${randomBytes(32).toString("base64url")}`;
      const [hash, tokenProof] = [sha256Hex(ticket), proveToken(ticket, token)];
      const row = { hash, principal: name, tenant, scopes: granted, tokenProof, tokenExpiresAt };
      const expiresAt = await store.insertTicketIfRoom(row, MAX_TICKETS_PER_TOKEN);
      if (expiresAt !== null) return { ticket, expiresAt };
      throw new BridgeError(
        "overloaded",
        `This token has the maximum of ${MAX_TICKETS_PER_TOKEN} unused tickets. Try again when one expires.`,
      );
    },
    /** Uses up the ticket and returns its principal; null if the ticket is unknown, used or expired, or its token is no longer valid. */
    async redeem(ticket: string, purpose: Purpose = "stream"): Promise<Principal | null> {
      const isTicket = TICKET_FORMAT.test(ticket) && ticket.startsWith(prefixes[purpose]);
      const redeemed = isTicket ? await store.redeemTicket(sha256Hex(ticket)) : null;
      const owner = redeemed === null ? null : findOwner(tokens, ticket, redeemed);
      if (owner === null) return null;
      const { principal, granted } = owner;
      return granted.length === principal.scopes.size ? principal : restrictScopes(principal, granted);
    },
  };
}

function rejectMissingScopes(scopes: ReadonlySet<Scope>, granted: readonly Scope[]): void {
  const missing = granted.filter((scope) => !scopes.has(scope));
  if (missing.length === 0) return;
  throw new BridgeError("scope_missing", `A ticket cannot have a scope that its token lacks: ${missing.join(", ")}.`, {
    errors: missing.map((scope) => ({
      path: `scopes.${granted.indexOf(scope)}`,
      message: `"${scope}" is not a scope of the token; remove it or use another token`,
    })),
  });
}
