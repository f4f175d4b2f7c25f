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
