import type { Ending } from "../shared/agent-program/agent-program.ts";

const MAX_STARTS = 4;

/**
 * Starts the program, and retries if concurrent starts conflict. In a new home directory, or after an update, every start tries to create
 * the tables of OpenCode's database, and all but one exit before they do anything else.
 */
export async function retryStart(start: () => Promise<Ending>): Promise<Ending> {
  for (let starts = 1; ; starts += 1) {
    const ending = await start();
    if (starts === MAX_STARTS || !isStartConflict(ending)) return ending;
  }
}

/** A retry is safe because the task has no session yet. */
const isStartConflict = ({ errorCode, error = "", resumeToken }: Ending): boolean =>
  errorCode === "runtime_crashed" && resumeToken === undefined && /Failed query|database is locked/.test(error);
