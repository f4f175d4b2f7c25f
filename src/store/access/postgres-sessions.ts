import { toColumnText } from "../column-text.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock } from "../engines/postgres/server-clock.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import { SESSION_LIFETIME_MS, type SessionStore } from "./interface.ts";
import { sessionColumns, toStoredSession } from "./rows.ts";

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
