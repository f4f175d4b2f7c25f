import { type ChildProcess, type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { StartError } from "../../errors.ts";
import { type Connection, DatabaseUnavailableError } from "../engines/postgres/connection.ts";

/** The directories in which Debian and its relatives install the programs of each version. */
const VERSION_DIRECTORIES = ["/usr/lib/postgresql", "/usr/pgsql"];

/** A client program of PostgreSQL. */
export type ClientProgram = "pg_dump" | "pg_restore" | "psql";

/** Starts a client program. The password is in its environment, because other users can see arguments. */
export type StartProgram = (
  program: ClientProgram,
  args: readonly string[],
  options?: { connects?: boolean },
) => ChildProcessByStdio<Writable, Readable, Readable>;

/** Reads the major version of the server. */
export async function readServerMajor(connection: Connection): Promise<number> {
  const { rows } = await connection.query("SELECT current_setting('server_version_num')::int AS version");
  return Math.floor(Number(rows[0]?.["version"]) / 10_000);
}

/**
 * Finds client programs that fit the server: pg_dump refuses a server that is newer than itself. Throws StartError with `manual`, the
 * commands to run on another machine.
 */
export async function findPrograms(
  needed: readonly ClientProgram[],
  { url, major, manual }: { url: string; major: number; manual: string },
): Promise<StartProgram> {
  const found = new Map(await Promise.all(needed.map(async (name) => [name, await findProgram(name, major)] as const)));
  const missing = needed.filter((name) => found.get(name) === null);
  if (missing.length > 0)
    throw new StartError(
      `This command needs ${missing.join(" and ")} of PostgreSQL ${major} or newer. Install them (on Debian: apt-get install postgresql-client-${major}), or run on a machine that has them:\n\n${manual}`,
    );
  const { target, environment } = separatePassword(url);
  return (name, args, { connects = true } = {}) =>
    spawn(found.get(name) as string, [...args, ...(connects ? [`--dbname=${target}`] : [])], {
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "pipe"],
    });
}

async function findProgram(name: ClientProgram, major: number): Promise<string | null> {
  const candidates = [...VERSION_DIRECTORIES.map((directory) => path.join(directory, String(major), "bin", name)).filter(existsSync), name];
  for (const candidate of candidates) {
    const { stdout } = await promisify(execFile)(candidate, ["--version"]).catch(() => ({ stdout: "" }));
    if (Number(/ (\d+)/.exec(stdout)?.[1] ?? 0) >= major) return candidate;
  }
  return null;
}

/** Returns the URL without its password, and the password for the environment. */
export function separatePassword(url: string): { target: string; environment: Record<string, string> } {
  const target = new URL(url);
  const password = target.password === "" ? target.searchParams.get("password") : decodeURIComponent(target.password);
  target.password = "";
  target.searchParams.delete("password");
  return { target: target.href, environment: password === null ? {} : { PGPASSWORD: password } };
}

/** Waits for the end of a program. Throws StartError with what it has printed to stderr. */
export async function waitForProgram(child: ChildProcess, name: ClientProgram): Promise<void> {
  let stderr = "";
  child.stderr?.on("data", (data: Buffer) => {
    stderr = `${stderr}${data}`.slice(-4000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return;
  const text = stderr.trim() || `exit code ${code}`;
  throw new StartError(`${name} failed: ${text}`, isUnreachable(text) ? { cause: new DatabaseUnavailableError(text) } : {});
}

const isUnreachable = (text: string): boolean => /could not connect|connection to server .* failed/.test(text);
