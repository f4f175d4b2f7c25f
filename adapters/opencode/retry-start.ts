import type { Ending } from "../shared/agent-program/agent-program.ts";

const MAX_STARTS = 4;

/**
 * Starts the program, and again where it stumbled over another start: in a new home, or after an update, each of several that come at
 * once would make the tables of the database there, and all but one of them exit before they have done anything else.
 */
export async function startUntilAlone(start: () => Promise<Ending>): Promise<Ending> {
  for (let starts = 1; ; starts += 1) {
    const ending = await start();
    if (starts === MAX_STARTS || !hasStumbled(ending)) return ending;
  }
}

/** Without a session nothing of the task has begun. */
const hasStumbled = ({ errorCode, error = "", resumeToken }: Ending): boolean =>
  errorCode === "runtime_crashed" && resumeToken === undefined && /Failed query|database is locked/.test(error);
