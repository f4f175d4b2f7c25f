/** Unused tickets, each of which replaces a token once. */
export interface TicketStore {
  /** Stores a ticket and returns its expiry in ms since the epoch; null if its token already has `maxPerToken` unused tickets. */
  insertTicketIfRoom(ticket: NewTicket, maxPerToken: number): Promise<number | null>;
  /** Deletes the ticket and returns it; null if it is unknown, used or expired. Of concurrent calls, one returns it. */
  redeemTicket(hash: string): Promise<RedeemedTicket | null>;
}

/** Open sessions, each of which replaces a token until it expires. */
export interface SessionStore {
  /** Stores a session and returns its expiry in ms since the epoch. A principal keeps only its `maxPerPrincipal` newest sessions. */
  insertSession(session: NewTicket, maxPerPrincipal: number): Promise<number>;
  /** Null if the session is unknown, deleted or expired. */
  findSession(hash: string): Promise<StoredSession | null>;
  /** Returns false if the session is unknown. */
  deleteSession(hash: string): Promise<boolean>;
}

/** How long a ticket is valid. */
export const TICKET_LIFETIME_MS = 60_000;

/** How long a session is valid. */
export const SESSION_LIFETIME_MS = 12 * 3_600_000;

/** A ticket or a session about to be stored, without the secret itself. */
export interface NewTicket {
  /** SHA-256 of the ticket, in hex. */
  hash: string;
  /** The name of the principal that the ticket was issued for. */
  principal: string;
  tenant: string;
  scopes: readonly string[];
  /** Proves which token the ticket was issued for. */
  tokenProof: string;
  /** The expiry of the token in ms since the epoch; null if it never expires. The ticket expires no later than the token. */
  tokenExpiresAt: number | null;
}

/** A ticket that was used up. */
export type RedeemedTicket = Pick<NewTicket, "principal" | "tenant" | "scopes" | "tokenProof">;

/** A session that is valid until `expiresAt`, in ms since the epoch. */
export interface StoredSession extends RedeemedTicket {
  expiresAt: number;
}
