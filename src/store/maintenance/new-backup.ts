import { closeSync, existsSync, openSync, rmSync } from "node:fs";
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
