import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";

/** Reads tickets without using them up. */
export function createTicketReads(reader: Reader) {
  return { isTicketKnown: async (hash: string): Promise<boolean> => (await reader.get(selectTicket, hash)) !== undefined };
}

const selectTicket = toStatement("SELECT 1 AS known FROM ticket WHERE hash = $1");
