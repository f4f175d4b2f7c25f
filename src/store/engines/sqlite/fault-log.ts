import type { Logger } from "pino";
import { isDamage, remedyOf } from "./damage.ts";

/** Bridge retries its own writes twice a second while a fault lasts, so the same fault is logged at most once in this time. */
const REPEAT_MS = 60_000;

/** Options; `clock` is for tests. */
interface FaultLogOptions {
  file: string;
  logger: Pick<Logger, "error">;
  clock?: () => number;
}

/** Creates the log of storage faults: damage is logged once, any other fault at most once a minute for each code. */
export function createFaultLog({ file, logger, clock = performance.now.bind(performance) }: FaultLogOptions): (error: unknown) => void {
  const loggedAt = new Map<string, number>();
  let isDamageLogged = false;
  return (error) => {
    if (isDamage(error)) {
      if (!isDamageLogged) logger.error({ err: error, remedy: remedyOf(file) }, "database is damaged; new tasks are rejected");
      isDamageLogged = true;
      return;
    }
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const now = clock();
    if (now - (loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    loggedAt.set(code, now);
    logger.error({ err: error }, "database read or write failed");
  };
}
