import { toColumnText } from "../column-text.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import { type NewTicket, type RedeemedTicket, TICKET_LIFETIME_MS, type TicketStore } from "./interface.ts";
import type { createTicketReads } from "./postgres-ticket-reads.ts";
import { toRedeemedTicket } from "./rows.ts";

/** A ticket to issue. */
interface Issue {
  ticket: NewTicket;
  maxPerToken: number;
}

/** Stores tickets and returns their expiries; null if their token has too many. Two nodes at once may exceed the limit by a few. */
export const issueOperation: OperationKind<Issue, number | null> = {
  name: "issue_ticket",
  keyOf: ({ ticket }) => ticket.hash,
  isRepeatable: false,
  // One statement after the other, because each one counts what the earlier ones have stored. All are sent at once.
  run: (inputs, transaction) => Promise.all(inputs.map((input) => issue(input, transaction))),
};

async function issue({ ticket, maxPerToken }: Issue, transaction: Transaction) {
  const { hash, principal, tenant, scopes, tokenProof, tokenExpiresAt } = ticket;
  const { now } = transaction;
  const expiresAt = Math.min(now + TICKET_LIFETIME_MS, tokenExpiresAt ?? Number.POSITIVE_INFINITY);
  const values = [hash, principal, tenant, JSON.stringify(scopes), tokenProof, expiresAt, now, now + TICKET_LIFETIME_MS, maxPerToken];
  const inserted = await transaction.query(insertTicket, values);
  return { output: inserted.length === 0 ? null : expiresAt };
}

/** Expired tickets do not count; retention deletes them. A ticket that would outlive a new one is from before the clock was set back. */
const insertTicket = {
  name: "insert_ticket",
  text: `INSERT INTO ticket (hash, principal, tenant, scopes, token_proof, expires_at)
    SELECT $1, $2, $3, $4, $5, $6
    WHERE (SELECT count(*) FROM ticket WHERE tenant = $3 AND principal = $2 AND expires_at > $7 AND expires_at <= $8) < $9 RETURNING 1 AS inserted`,
};

/** Deletes tickets and returns those that were valid. */
export const redeemOperation: OperationKind<string, RedeemedTicket | null> = {
  name: "redeem_ticket",
  keyOf: (hash) => hash,
  isRepeatable: false,
  async run(inputs, transaction) {
    const rows = await transaction.query(redeemTickets, [inputs, transaction.now, transaction.now + TICKET_LIFETIME_MS]);
    const tickets = new Map(rows.filter(({ valid }) => valid === true).map((row) => [String(row["hash"]), toRedeemedTicket(row)]));
    return inputs.map((hash) => ({ output: tickets.get(hash) ?? null }));
  },
};

const redeemTickets = {
  name: "redeem_tickets",
  text: `DELETE FROM ticket WHERE hash = ANY ($1::text[]) RETURNING *, expires_at > $2 AND expires_at <= $3 AS valid`,
};

/** The operations of tickets. A ticket that is not stored costs no commit, because anyone can send such tickets. */
export function createTicketWrites(writer: Pick<BatchWriter, "write">, { isTicketKnown }: ReturnType<typeof createTicketReads>) {
  return {
    insertTicketIfRoom: (ticket, maxPerToken) => writer.write(issueOperation, { ticket, maxPerToken }),
    async redeemTicket(hash) {
      const text = toColumnText(hash);
      return (await isTicketKnown(text)) ? writer.write(redeemOperation, text) : null;
    },
  } satisfies Partial<TicketStore>;
}
