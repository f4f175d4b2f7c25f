import { fileURLToPath } from "node:url";
import { execa } from "execa";

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
  const script = fileURLToPath(new URL("./check-pages-process.ts", import.meta.url));
  const checking = execa(process.execPath, [script, file], { env: {}, extendEnv: false, stdin: "ignore", reject: false });
  let isEnded = false;
  const fault = checking.then(({ exitCode, stdout, stderr, shortMessage }) => {
    if (isEnded) return null;
    if (exitCode !== 0) throw new Error(stderr.trim() || shortMessage);
    return stdout === "" ? null : stdout;
  });
  return {
    fault,
    async end() {
      isEnded = true;
      checking.kill("SIGKILL");
      await checking;
    },
  };
}
