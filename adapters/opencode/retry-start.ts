import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";

const MAX_STARTS = 4;

/**
 * Starts the program, and retries if concurrent starts conflict. In a new home directory, or after an update, every start tries to create
 * the tables of OpenCode's database, and all but one exit before they do anything else.
 */
export async function retryStart(start: () => Promise<ConnectionResult>): Promise<ConnectionResult> {
  for (let starts = 1; ; starts += 1) {
    const result = await start();
    if (starts === MAX_STARTS || !isStartConflict(result)) return result;
  }
}

/** Returns whether concurrent starts conflicted. A retry is then safe, because the task has no session yet. */
const isStartConflict = ({ errorCode, error = "", resumeToken }: ConnectionResult): boolean =>
  errorCode === "runtime_crashed" && resumeToken === undefined && /Failed query|database is locked/.test(error);
