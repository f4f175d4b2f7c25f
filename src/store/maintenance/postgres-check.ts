import { NoDatabaseError } from "../../errors.ts";
import { type Connection, connect, describeDatabase, readMeta } from "../engines/postgres/connection.ts";
import { readMigrations } from "../engines/postgres/migrate.ts";
import { explainStartError } from "../engines/postgres/prepare-database.ts";
import { countsSql, toCounts } from "./backup-file.ts";
import { type DatabaseReport, describeBroken, invariants } from "./invariants.ts";

/** Checks a database without changing it, also while nodes run. Throws StartError if it cannot be reached. */
export async function checkDatabase(url: string): Promise<DatabaseReport> {
  try {
    // Reading all rows of a large database takes long.
    const connection = await connect({ url, answerMs: 0 });
    try {
      await connection.query("SET statement_timeout = 0");
      // One transaction sees the state of one moment, while the nodes go on writing.
      await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return await inspect(connection, url);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw explainStartError(error, url);
  }
}

async function inspect(connection: Connection, url: string): Promise<DatabaseReport> {
  const schemaVersion = Number((await readMeta(connection, "schema_version")) ?? 0);
  const knownSchemaVersion = readMigrations().length;
  if (schemaVersion === 0)
    throw new NoDatabaseError(`The database ${describeDatabase(url)} contains no tables of Bridge. Start Bridge, or run: brg db migrate`);
  const faults = await findDamagedPages(connection);
  for (const invariant of invariants) {
    const { rows } = await connection.query(invariant.sql);
    if (rows.length > 0) faults.push(describeBroken(invariant, rows));
  }
  return {
    engine: "postgres",
    database: describeDatabase(url),
    schemaVersion,
    knownSchemaVersion,
    epoch: await readMeta(connection, "epoch"),
    counts: toCounts((await connection.query(countsSql)).rows[0]),
    faults,
  };
}

/** The pages whose checksum PostgreSQL found to be wrong. Without checksums, it does not report any. */
async function findDamagedPages(connection: Connection): Promise<string[]> {
  const { rows } = await connection.query(
    "SELECT coalesce(checksum_failures, 0) AS failures FROM pg_stat_database WHERE datname = current_database()",
  );
  const failures = Number(rows[0]?.["failures"] ?? 0);
  return failures === 0 ? [] : [`PostgreSQL has found ${failures} pages with a wrong checksum (checksum_failures in pg_stat_database)`];
}
