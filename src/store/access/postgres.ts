import { toColumnText } from "../column-text.ts";
import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock, toStatement } from "../engines/postgres/statements.ts";
import {
  type NewTicket,
  type RedeemedTicket,
  SESSION_LIFETIME_MS,
  type SessionStore,
  TICKET_LIFETIME_MS,
  type TicketStore,
} from "./interface.ts";
import { sessionColumns, toRedeemedTicket, toStoredSession } from "./rows.ts";

/** A ticket to issue. */
interface Issue {
  ticket: NewTicket;
  maxPerToken: number;
}

/** Stores tickets and returns their expiries; null if their token has too many. Two nodes at once may exceed the limit by a few. */
const issueOperation: OperationKind<Issue, number | null> = {
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
const redeemOperation: OperationKind<string, RedeemedTicket | null> = {
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

/** Reads tickets without using them up. */
export function createTicketReads(reader: Reader) {
  return { isTicketKnown: async (hash: string): Promise<boolean> => (await reader.get(selectTicket, hash)) !== undefined };
}

const selectTicket = toStatement("SELECT 1 AS known FROM ticket WHERE hash = $1");

/**
 * Creates the operations of sessions. Each write is a transaction of one statement, because people sign in rarely. `clock` stands in for
 * the clock of the server, for tests.
 */
export function createSessionOperations(reader: Reader, clock?: () => number): SessionStore {
  const now = (): number | null => clock?.() ?? null;

  return {
    async insertSession({ hash, principal, tenant, scopes, tokenProof, tokenExpiresAt }, maxPerPrincipal) {
      const values = [hash, principal, tenant, JSON.stringify(scopes), tokenProof, tokenExpiresAt, maxPerPrincipal - 1, now()];
      return Number((await reader.get(insertSession, ...values))?.["expires_at"]);
    },
    async findSession(hash) {
      const row = await reader.get(selectSession, toColumnText(hash), now());
      return row === undefined ? null : toStoredSession(row);
    },
    deleteSession: async (hash) => (await reader.all(deleteSession, toColumnText(hash))).length === 1,
  };
}

/** A session that would outlive a new one is from before the clock was set back, so it counts as expired. Retention deletes both. */
const isValid = `expires_at > clock.now AND expires_at <= clock.now + ${SESSION_LIFETIME_MS}`;

const clockFrom = (parameter: string): string => `clock AS MATERIALIZED (SELECT coalesce(${parameter}::bigint, ${serverClock}) AS now)`;

const insertSession = toStatement(
  `WITH ${clockFrom("$8")}, oldest AS (
     DELETE FROM session WHERE hash IN (
       SELECT hash FROM session, clock WHERE tenant = $3 AND principal = $2 AND ${isValid} ORDER BY expires_at DESC OFFSET $7
     )
   )
   INSERT INTO session (hash, principal, tenant, scopes, token_proof, expires_at)
   SELECT $1, $2, $3, $4, $5, least(clock.now + ${SESSION_LIFETIME_MS}, $6::bigint) FROM clock RETURNING expires_at`,
);

// A statement names its columns: after a migration adds one, a prepared `SELECT *` fails.
const selectSession = toStatement(`WITH ${clockFrom("$2")} SELECT ${sessionColumns} FROM session, clock WHERE hash = $1 AND ${isValid}`);

const deleteSession = toStatement("DELETE FROM session WHERE hash = $1 RETURNING 1 AS deleted");

/** The writes of tickets, in the order in which a batch runs them. */
export const accessKinds: readonly AnyKind[] = [issueOperation, redeemOperation];
