import { accessSync, constants, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { ConflictError, StartError } from "../../../errors.ts";

/** Time for which a start waits for a Bridge that is still shutting down. */
const WAIT_MS = 2000;

/** The resource that a lock protects, for error messages. */
export interface LockedResource {
  name: "data directory" | "database";
  /** The setting that contains its path. */
  setting: "BRIDGE_DATA_DIR" | "BRIDGE_DATABASE_URL";
  /** What to do if another process has it. Default: what a second Bridge can do. */
  remedy?: string;
}

/**
 * Locks a file for this process alone and returns the release; throws StartError when another process has it. The lock is an exclusive
 * SQLite transaction, which the kernel releases when the process ends. A file that remains after a crash is therefore not locked.
 */
export function lockFile(file: string, resource: LockedResource): () => void {
  requireRegularFile(file);
  const realPath = path.join(realpathSync(path.dirname(file)), path.basename(file));
  const owner = findOwnerOfDeleted(realPath);
  if (owner !== null) throw refusal(`process ${owner} holds ${file}, which was deleted`, resource);
  let lock: SqliteDatabase.Database | undefined;
  try {
    lock = new SqliteDatabase(realPath, { timeout: WAIT_MS });
    // SQLite opens a file that is not writable for reading, and then does not lock it exclusively.
    accessSync(realPath, constants.W_OK);
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "SQLITE_BUSY") throw refusal(`${file} is locked`, resource, error);
    throw new StartError(
      `Bridge cannot start: the lock file ${file} cannot be used (${message}). Choose another ${resource.setting}, or check the permissions of its directory.`,
      {
        cause: error,
      },
    );
  }
  const held = lock;
  return () => held.close();
}

function refusal(reason: string, { name, setting, remedy }: LockedResource, cause?: unknown): ConflictError {
  const action = remedy ?? `Stop the other Bridge, or set a different ${setting} for this one.`;
  return new ConflictError(`Another process owns the ${name}: ${reason}. ${action}`, { cause });
}

/** Rejects links, because two lock files could refer to one file, and all other files that are not regular. */
function requireRegularFile(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new StartError(`Bridge cannot start: its lock file ${file} must be a regular file. Remove what is there.`);
}

/**
 * Finds the process that still holds a deleted lock file, on Linux. A new file of the same name is a second lock. This process would
 * create it, or a restored backup contained it.
 */
function findOwnerOfDeleted(file: string): string | null {
  const isHolder = (pid: string): boolean => {
    const descriptors = `/proc/${pid}/fd`;
    return orEmpty(() => readdirSync(descriptors)).some((descriptor) =>
      orEmpty(() => [readlinkSync(`${descriptors}/${descriptor}`)]).includes(`${file} (deleted)`),
    );
  };
  return listLockHolders().find(isHolder) ?? null;
}

/** Lists the processes that hold a lock of any file; all processes if the system has no list of its locks. */
function listLockHolders(): string[] {
  const locks = orEmpty(() => readFileSync("/proc/locks", "utf8").split("\n"));
  const holders = locks.flatMap((line) => /: POSIX .* WRITE +(\d+) /.exec(line)?.[1] ?? []);
  return locks.length > 0 ? [...new Set(holders)] : orEmpty(() => readdirSync("/proc")).filter((name) => /^\d+$/.test(name));
}

/** Returns an empty list if /proc cannot be read: the process has ended or belongs to another user, or the system is not Linux. */
function orEmpty(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
