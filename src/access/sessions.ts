import { randomBytes } from "node:crypto";
import { BridgeError } from "../errors.ts";
import { sha256Hex } from "../requests/sha256-hex.ts";
import type { SessionStore } from "../store/access/interface.ts";
import type { Principal } from "./principal.ts";
import type { Tickets } from "./tickets.ts";
import { findOwner, proveToken } from "./token-proof.ts";
import type { Tokens } from "./tokens.ts";

/** Maximum sessions of one token. A new one replaces the oldest, so that no token keeps the others of its tenant from signing in. */
export const MAX_SESSIONS_PER_TOKEN = 1000;

const SESSION_FORMAT = /^ses_[A-Za-z0-9_-]{43}$/;

/** The parts that sessions use. */
interface SessionOptions {
  store: SessionStore;
  tokens: Pick<Tokens, "findByName">;
  tickets: Pick<Tickets, "redeem">;
}

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Creates the functions of sessions. A session has its own token, which replaces another one for twelve hours, so that a browser never
 * learns the other one. It ends when its token is revoked.
 */
export function createSessions({ store, tokens, tickets }: SessionOptions) {
  return {
    /**
     * Opens a session with a ticket for the sign-in. Returns its token and its expiry in ms since the epoch. Throws BridgeError
     * `unauthenticated` if the ticket is not valid.
     */
    async open(ticket: string): Promise<{ token: string; expiresAt: number }> {
      const principal = await tickets.redeem(ticket, "signIn");
      const known = principal === null ? null : tokens.findByName(principal.name);
      if (principal === null || known === null)
        throw new BridgeError(
          "unauthenticated",
          "The link is not valid: it was used, is older than 60 seconds, or its token was revoked. Create another link, or sign in with a token.",
        );
      const { name, tenant, scopes, expiresAt: tokenExpiresAt } = principal;
      const token = `ses_${randomBytes(32).toString("base64url")}`;
      const row = {
        hash: sha256Hex(token),
        principal: name,
        tenant,
        scopes: [...scopes],
        tokenProof: proveToken(token, known),
        tokenExpiresAt,
      };
      return { token, expiresAt: await store.insertSession(row, MAX_SESSIONS_PER_TOKEN) };
    },
    /** Returns whether the token has the format of a session's token. */
    isSession: (token: string): boolean => SESSION_FORMAT.test(token),
    /** Returns the principal of a session; null if the session is unknown, closed or expired, or its token is no longer valid. */
    async find(token: string): Promise<Principal | null> {
      const session = await store.findSession(sha256Hex(token));
      const owner = session === null ? null : findOwner(tokens, token, session);
      if (session === null || owner === null) return null;
      const { principal, granted } = owner;
      // The token can have got its expiry, or an earlier one, after the session was opened.
      const expiresAt = Math.min(session.expiresAt, principal.expiresAt ?? Number.POSITIVE_INFINITY);
      return { ...principal, scopes: new Set(granted), expiresAt, derivedFrom: principal };
    },
    /** Closes a session. Returns false if it is unknown. */
    close: (token: string): Promise<boolean> => store.deleteSession(sha256Hex(token)),
  };
}
