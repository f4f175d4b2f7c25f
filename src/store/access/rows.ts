import type { StoredRow } from "../tasks/rows.ts";
import type { RedeemedTicket, StoredSession } from "./interface.ts";

/** A row of a ticket. */
export const toRedeemedTicket = (row: StoredRow): RedeemedTicket => ({
  principal: String(row["principal"]),
  tenant: String(row["tenant"]),
  scopes: JSON.parse(String(row["scopes"])) as string[],
  tokenProof: String(row["token_proof"]),
});

/** The columns of `toStoredSession`. */
export const sessionColumns = "principal, tenant, scopes, token_proof, expires_at";

/** A row of a session. */
export const toStoredSession = (row: StoredRow): StoredSession => ({ ...toRedeemedTicket(row), expiresAt: Number(row["expires_at"]) });
