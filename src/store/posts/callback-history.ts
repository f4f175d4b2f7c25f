import type { CallbackAttempt, CallbackSettlement } from "./interface.ts";

/** Number of attempts that the history of a callback contains. A longer one drops its oldest attempts. */
const MAX_HISTORY_ATTEMPTS = 20;

/**
 * SQL that adds the line of an attempt to a history, so that an attempt is stored without reading the earlier ones. `position` is the
 * function that finds a text in another one. A line that is NULL adds nothing.
 */
export const extendHistory = ({ history, line, position }: Readonly<Record<"history" | "line" | "position", string>>): string => `coalesce(
    CASE WHEN length(${history}) - length(replace(${history}, '\n', '')) >= ${MAX_HISTORY_ATTEMPTS}
      THEN substr(${history}, ${position}(${history}, '\n') + 1) ELSE ${history} END || ${line}, ${line}, ${history})`;

/** Encodes the attempt after the first `attempts` ones, settled at this time, as a line. Null if the settlement does not describe it. */
export function encodeAttempt(attempts: number, { attempt, lastStatus, lastError }: CallbackSettlement, now: number): string | null {
  if (attempt === undefined) return null;
  const { startedMsAgo, durationMs, response } = attempt;
  const stored: CallbackAttempt = {
    number: attempts + 1,
    at: now - startedMsAgo,
    status: lastStatus,
    error: lastError,
    durationMs,
    response: response?.text ?? null,
    responseTruncated: response?.isTruncated ?? false,
  };
  return `${JSON.stringify(stored)}\n`;
}

/** Reads the column of a history. */
export const decodeHistory = (text: string | null): CallbackAttempt[] =>
  (text ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as CallbackAttempt);
