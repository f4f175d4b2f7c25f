import { type ExecFileException, execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

/** A check of a database file in a child process. */
export interface PageCheck {
  /** Resolves with the first fault, or with null if there is none or the check was ended. Rejects if the file cannot be checked. */
  fault: Promise<string | null>;
  /** Ends the check at once. */
  end(): Promise<void>;
}

/**
 * Checks every page of a file in a child process, over a separate read-only connection. SQLite cannot be interrupted within a check, so a
 * worker thread would delay the shutdown by minutes when the file is large.
 */
export function startPageCheck(file: string): PageCheck {
  const script = path.join(import.meta.dirname, `check-pages-process${path.extname(import.meta.filename)}`);
  // Not with execa, because loading it takes 4 MB of memory.
  const checking = promisify(execFile)(process.execPath, [script, file], { env: {} });
  const kill = () => checking.child.kill("SIGKILL");
  process.once("exit", kill);
  let isEnded = false;
  const fault = checking
    .then(
      ({ stdout }) => stdout.trim() || null,
      (error: ExecFileException) => {
        if (isEnded) return null;
        throw new Error(error.stderr?.trim() || error.message);
      },
    )
    .finally(() => process.off("exit", kill));
  return {
    fault,
    async end() {
      isEnded = true;
      kill();
      await fault.catch(() => {});
    },
  };
}
