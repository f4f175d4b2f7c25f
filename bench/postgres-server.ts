import { execFileSync } from "node:child_process";
import { chownSync, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

/** How a PostgreSQL server is started. */
interface PostgresOptions {
  core: number;
  /** Loads pg_stat_statements, which makes the server slower. */
  counts: boolean;
  /** Listens also at this port of 127.0.0.1. */
  port?: number;
}

/** Finds the directory with the newest PostgreSQL server, which Debian does not add to the PATH. */
export function findPostgres(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((one, other) => Number(other) - Number(one)) : [];
  return versions.map((version) => path.join(root, version, "bin")).find((bin) => existsSync(path.join(bin, "initdb"))) ?? null;
}

/** Starts PostgreSQL with its default settings on a UNIX socket in the directory. It rejects root, so root starts it as `postgres`. */
export async function startPostgres(directory: string, { core, counts, port }: PostgresOptions): Promise<PinnedProcess> {
  const bin = findPostgres() as string;
  const uid = process.getuid?.() === 0 ? Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })) : undefined;
  if (uid !== undefined) chownSync(directory, uid, -1);
  const data = path.join(directory, "postgres");
  const userOption = uid === undefined ? {} : { uid };
  execFileSync(path.join(bin, "initdb"), ["-D", data, "-U", "bench", "--auth", "trust"], {
    cwd: directory,
    stdio: "ignore",
    ...userOption,
  });
  const settings = {
    unix_socket_directories: directory,
    listen_addresses: port === undefined ? "" : "127.0.0.1",
    ...(port !== undefined && { port, max_connections: 200 }),
    log_min_messages: "fatal",
    ...(counts && { shared_preload_libraries: "pg_stat_statements" }),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const postgres = startPinned(core, [path.join(bin, "postgres"), "-D", data, ...options], {}, uid);
  await waitUntilReady("postgres", () =>
    queryPostgres(directory, counts ? "CREATE EXTENSION IF NOT EXISTS pg_stat_statements" : "SELECT 1", port),
  );
  return postgres;
}

/** Runs a statement in the database `postgres`. Returns the rows as lines, with `|` between the columns. */
export const queryPostgres = (directory: string, sql: string, port = 5432): string =>
  execFileSync(
    path.join(findPostgres() as string, "psql"),
    ["-h", directory, "-p", String(port), "-U", "bench", "-d", "postgres", "-Atc", sql],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
