import { chownSync, existsSync, realpathSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { pino } from "pino";
import { withoutByteOrderMark } from "#contract";
import { ConfigError, ConflictError } from "../errors.ts";
import { toFieldErrors } from "../requests/field-errors.ts";
import { openTokensFile, type TokenEntry, tokensSchema } from "./tokens-file.ts";

/** Returns what is wrong with an entry of the tokens file, by field. */
export function findTokenFaults(entry: TokenEntry): string[] {
  const parsed = tokensSchema.safeParse([entry]);
  if (parsed.success) return [];
  return toFieldErrors(parsed.error.issues, { schema: tokensSchema }).map(
    ({ path: field, message }) => `${field.replace(/^0\./, "")} ${message}`,
  );
}

/**
 * Adds an entry to the tokens file, or creates the file for this user only. A running Bridge reads the old file or the new one. Throws
 * ConfigError if the file would not be valid, and ConflictError while another command changes it.
 */
export async function addToken(entry: TokenEntry, file: string): Promise<void> {
  const exists = existsSync(file);
  // A link stays, and its target is replaced.
  const target = exists ? realpathSync(file) : file;
  const entries = exists ? await readEntries(target) : [];
  const changed = `${target}.new`;
  const handle = await openNew(changed);
  try {
    await handle.writeFile(`${JSON.stringify([...entries, entry], null, 2)}\n`);
    if (exists) await keepAccess(handle, changed, target);
    await handle.sync();
    checkFile(changed);
    await rename(changed, target);
  } catch (error) {
    rmSync(changed, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function readEntries(file: string): Promise<unknown[]> {
  checkFile(file);
  return JSON.parse(withoutByteOrderMark(await readFile(file, "utf8"))) as unknown[];
}

/** Only one command at a time can create this file. */
async function openNew(changed: string): Promise<FileHandle> {
  try {
    return await open(changed, "wx", 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw new ConflictError(
        `${changed} exists: another command changes the tokens file, or one was interrupted. Remove it in the latter case.`,
      );
    throw new ConfigError([`BRIDGE_TOKENS_FILE: ${path.dirname(changed)} cannot be written (${code})`]);
  }
}

/** Bridge may run as another user than this command. */
async function keepAccess(handle: FileHandle, changed: string, target: string): Promise<void> {
  const { mode, uid, gid } = statSync(target);
  await handle.chmod(mode & 0o777);
  if (process.getuid?.() === 0) chownSync(changed, uid, gid);
}

function checkFile(file: string): void {
  const ignore = (): void => {};
  const logger = pino({ level: "silent" });
  openTokensFile({ file, configured: [], logger, pollMs: 60_000, onRevoked: ignore, onQuotasChanged: ignore }).close();
}
