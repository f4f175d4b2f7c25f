import type { Connection } from "./connection.ts";

/** Names a database without user and password. */
export function describeDatabase(url: string): string {
  const { host, pathname } = new URL(url);
  return `${decodeURIComponent(pathname.slice(1))} on ${host}`;
}

/** Reads the schema in which new tables are created, which contains those of Bridge. */
export async function readSchema(connection: Connection): Promise<string> {
  const { rows } = await connection.query("SELECT current_schema() AS schema");
  return String(rows[0]?.["schema"]);
}

/** Reads a value of the table `meta`; null if it or the table does not exist. */
export async function readMeta(connection: Connection, name: string): Promise<string | null> {
  const { rows: tables } = await connection.query("SELECT to_regclass('meta') IS NOT NULL AS exists");
  if (tables[0]?.["exists"] !== true) return null;
  const { rows } = await connection.query("SELECT value FROM meta WHERE name = $1", [name]);
  return rows[0] === undefined ? null : String(rows[0]["value"]);
}
