import type { Reader } from "./reader-pool.ts";
import { toStatement } from "./to-statement.ts";

/** The expression for the clock of the server, in ms since the epoch. */
export const serverClock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const selectNow = toStatement(`SELECT ${serverClock} AS now`);

/** Reads the clock of the server, in ms since the epoch. */
export const readServerClock = async (reader: Reader): Promise<number> => Number((await reader.get(selectNow))?.["now"]);
