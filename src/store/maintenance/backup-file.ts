import { createHash } from "node:crypto";
import { closeSync, createReadStream, existsSync, openSync, rmSync } from "node:fs";
import { open, readFile, rename } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { ConflictError, StartError } from "../../errors.ts";

/**
 * Creates an empty file that becomes a backup, and that only this user can read. `fill` writes the backup and publishes it. Removes the
 * file if that fails. Throws ConflictError if the backup exists.
 */
export async function createBackupFile<T>(backup: string, fill: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${backup}.partial`;
  if (existsSync(backup)) throw new ConflictError(`The file ${backup} exists. Choose another name for the backup.`);
  try {
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw new ConflictError(
        `The file ${partial} exists: another backup is being written, or one was interrupted. Remove it in the latter case.`,
      );
    throw new StartError(`The backup ${backup} cannot be written (${code}). Check its directory.`, { cause: error });
  }
  try {
    return await fill(partial);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

const counts = z.object({ tasks: z.number(), events: z.number(), callbacks: z.number(), approvals: z.number() });

const manifestSchema = z.object({
  format: z.literal(1),
  engine: z.enum(["sqlite", "postgres"]),
  createdAt: z.string(),
  /** The version of Bridge that made the backup. */
  bridgeVersion: z.string(),
  schemaVersion: z.number(),
  /** The epoch of its event ids. A restored database gets another one. */
  epoch: z.string(),
  /** The schema that contains the tables: `main` with SQLite. */
  schema: z.string(),
  counts,
  bytes: z.number(),
  sha256: z.string(),
});

/** Numbers of rows of a database. */
export type DatabaseCounts = z.infer<typeof counts>;

/** What a backup contains. It is stored as JSON next to the backup. */
export type BackupManifest = z.infer<typeof manifestSchema>;

/** Returns the path of the manifest of a backup. */
export const manifestOf = (backup: string): string => `${backup}.json`;

/** Counts the rows of a database; the same SQL on both engines. */
export const countsSql = `SELECT (SELECT count(*) FROM task) AS tasks, (SELECT count(*) FROM event) AS events,
  (SELECT count(*) FROM callback) AS callbacks, (SELECT count(*) FROM approval) AS approvals`;

/** Converts the row of `countsSql`. */
export const toCounts = (row: Readonly<Record<string, unknown>> | undefined): DatabaseCounts => ({
  tasks: Number(row?.["tasks"]),
  events: Number(row?.["events"]),
  callbacks: Number(row?.["callbacks"]),
  approvals: Number(row?.["approvals"]),
});

/** Publishes a backup: writes its manifest, and gives the complete file its name last. */
export async function publishBackup(partial: string, backup: string, content: Omit<BackupManifest, "bytes" | "sha256" | "format">) {
  await flushFile(partial);
  const manifest: BackupManifest = { format: 1, ...content, ...(await measureFile(partial)) };
  const file = await open(manifestOf(backup), "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, backup);
  return manifest;
}

/** Reads and checks the manifest of a backup, and compares it with the file. Throws StartError. */
export async function readBackup(backup: string, engine: BackupManifest["engine"]): Promise<BackupManifest> {
  const manifest = await readManifest(backup);
  if (manifest.engine !== engine)
    throw new ConflictError(
      `The backup ${backup} was made from ${names[manifest.engine]}, and BRIDGE_DATABASE_URL names ${names[engine]}. Set it to a database of the same kind.`,
    );
  const { bytes, sha256 } = await measureFile(backup);
  if (bytes !== manifest.bytes || sha256 !== manifest.sha256)
    throw new StartError(
      `The backup ${backup} is damaged: its size or its SHA-256 differs from ${manifestOf(backup)}. Copy it again, or use another backup.`,
    );
  return manifest;
}

const names = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;

async function readManifest(backup: string): Promise<BackupManifest> {
  const file = manifestOf(backup);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new StartError(
      `The manifest ${file} of the backup cannot be read (${(error as NodeJS.ErrnoException).code}). brg db backup writes it next to the backup; copy both files. ` +
        "For a SQLite file that was made in another way, use --without-manifest.",
      { cause: error },
    );
  }
  const parsed = manifestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new StartError(`${file} is not the manifest of a backup that this version of Bridge can restore.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function measureFile(name: string): Promise<{ bytes: number; sha256: string }> {
  const sha256 = createHash("sha256");
  let bytes = 0;
  try {
    await pipeline(createReadStream(name), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        sha256.update(chunk);
        bytes += chunk.length;
      }
    });
  } catch (error) {
    throw new StartError(`The backup ${name} cannot be read (${(error as NodeJS.ErrnoException).code}).`, { cause: error });
  }
  return { bytes, sha256: sha256.digest("hex") };
}

/** Waits until the content of a file or the entries of a directory are on the disk. */
export async function flushFile(name: string): Promise<void> {
  const file = await open(name, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** How a database is restored. */
export interface RestoreOptions {
  /** Whether a database that contains tasks is replaced. */
  isForced: boolean;
  /** Whether the backup has a manifest. */
  hasManifest: boolean;
}

/** The result of a restore. */
export interface Restored {
  /** When the backup was made; null without a manifest. */
  createdAt: string | null;
  schemaVersion: number;
  counts: DatabaseCounts;
  /** The new epoch of the event ids. */
  epoch: string;
  /** Where the replaced database was kept; null if it was empty or not kept. */
  replaced: string | null;
  /** The number of tasks that the replaced database contained; null if they could not be counted. */
  replacedTasks: number | null;
}

/** Whether a database contains tasks or events, in any version of its schema. */
export const findsDataSql = "SELECT EXISTS (SELECT 1 FROM task) OR EXISTS (SELECT 1 FROM event) AS found";

/**
 * Returns the predicate of a sentence about a database that is not empty: how many tasks it contains. `tasks` is null if they could not be
 * counted.
 */
export function describeTasks(tasks: number | null): string {
  if (tasks === null) return "contains data, and its tasks cannot be counted";
  return tasks === 0 ? "contains events, but no tasks" : `contains ${tasks} ${tasks === 1 ? "task" : "tasks"}`;
}
