import { createDatabaseVerb } from "../create-database-verb.ts";

/** Starts a new epoch of event ids in a PostgreSQL database. */
export const run = createDatabaseVerb("epoch renew");
