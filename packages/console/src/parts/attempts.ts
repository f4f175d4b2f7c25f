import { formatTime, showHidden } from "../format.ts";

/** What is known of the attempts to deliver a callback or an event to a webhook. */
interface Delivery {
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  nextAttemptAt: string | null;
}

/** Describes the attempts, for example `1 attempt, HTTP 500` or `3 attempts, connection_refused, next at 10:20:30`. */
export function describeAttempts(delivery: Delivery, now: number): string {
  const { attempts } = delivery;
  return [`${attempts} ${attempts === 1 ? "attempt" : "attempts"}`, describeResult(delivery, now)].filter((part) => part !== "").join(", ");
}

/** Describes the last attempt and the time of the next one; empty if there is none. */
export function describeResult({ lastStatus, lastError, nextAttemptAt }: Omit<Delivery, "attempts">, now: number): string {
  const parts: string[] = [];
  if (lastStatus !== null) parts.push(`HTTP ${lastStatus}`);
  if (lastError !== null && lastError !== `http_${lastStatus}`) parts.push(showHidden(lastError));
  if (nextAttemptAt !== null) parts.push(`next at ${formatTime(nextAttemptAt, now)}`);
  return parts.join(", ");
}
