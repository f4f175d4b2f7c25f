import { createDatabaseVerb } from "../create-database-verb.ts";

/** Upgrades the schema of a PostgreSQL database. */
export const run = createDatabaseVerb("migrate");
