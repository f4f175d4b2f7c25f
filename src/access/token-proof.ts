import { createHmac } from "node:crypto";
import type { RedeemedTicket } from "../store/access/interface.ts";
import type { KnownToken, Principal, Scope } from "./principal.ts";
import type { Tokens } from "./tokens.ts";

/** Returns a proof that a ticket or session was issued for this token. It reveals nothing without the secret, which is not stored. */
export const proveToken = (secret: string, { digest }: Pick<KnownToken, "digest">): string =>
  createHmac("sha256", secret).update(digest).digest("hex");

/**
 * Finds the principal of the token that a stored ticket or session was issued for, with the granted scopes that the token still has. Null
 * if the token was revoked or replaced.
 */
export function findOwner(
  tokens: Pick<Tokens, "findByName">,
  secret: string,
  { principal: name, tenant, scopes, tokenProof }: RedeemedTicket,
): { principal: Principal; granted: Scope[] } | null {
  const token = tokens.findByName(name);
  if (token === null || tokenProof !== proveToken(secret, token) || token.principal.tenant !== tenant) return null;
  return { principal: token.principal, granted: [...token.principal.scopes].filter((scope) => scopes.includes(scope)) };
}
