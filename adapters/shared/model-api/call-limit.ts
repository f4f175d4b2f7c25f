import { isJsonObject } from "#contract";

/** Statuses with which vendors reject calls that may succeed later. */
const LIMIT_STATUSES: readonly number[] = [429, 529];

/** Longest wait that a header may name. A later time is a fault of the vendor. */
const MAX_WAIT_MS = 31 * 24 * 60 * 60_000;

/** Header values by their lower-case names. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The limit at which a vendor rejects calls. `resetsAt` is in ms since the epoch; null if the vendor names no time. */
export interface CallLimit {
  resetsAt: number | null;
  reason: string;
}

/** Reads the limit from a response; null if the response reports none. */
export function readLimit(status: number, headers: Headers, now: number): CallLimit | null {
  if (!LIMIT_STATUSES.includes(status)) return null;
  return { resetsAt: readReset(headers, now), reason: `The vendor rejected a call of the model with status ${status}.` };
}

/** Reads the time at which a limit ends from the body of an error; null if the body names none. Never throws. */
export function readBodyReset(body: unknown, now: number): number | null {
  const error = isJsonObject(body) && isJsonObject(body["error"]) ? body["error"] : {};
  const details = Array.isArray(error["details"]) ? error["details"].filter(isJsonObject) : [];
  const named = [
    // OpenAI names the end of the limit of a plan in seconds since the epoch, and the rest of it.
    error["resets_at"],
    error["resets_in_seconds"],
    // Google's details of an error of the type RetryInfo.
    ...details.map((detail) => detail["retryDelay"]),
  ];
  return latest(
    named.map((value) => (typeof value === "number" || typeof value === "string" ? parseTime(String(value), now) : null)),
    now,
  );
}

function readReset(headers: Headers, now: number): number | null {
  const retryAfter = readText(headers, "retry-after");
  const resets = retryAfter === "" ? readExhausted(headers).map((text) => parseTime(text, now)) : [parseTime(retryAfter, now)];
  return latest(resets, now);
}

/** Returns the latest credible time; null if there is none. */
function latest(times: readonly (number | null)[], now: number): number | null {
  const credible = times.filter((at): at is number => at !== null && at >= now && at <= now + MAX_WAIT_MS);
  return credible.length === 0 ? null : Math.max(...credible);
}

/** Lists the reset times of all exhausted limits. */
function readExhausted(headers: Headers): string[] {
  return Object.keys(headers).flatMap((name) => {
    const remaining = /^(anthropic-ratelimit-.+)-remaining$/.exec(name)?.[1];
    if (remaining !== undefined) return readText(headers, name) === "0" ? [readText(headers, `${remaining}-reset`)] : [];
    const kind = /^x-ratelimit-remaining-(.+)$/.exec(name)?.[1];
    if (kind !== undefined) return readText(headers, name) === "0" ? [readText(headers, `x-ratelimit-reset-${kind}`)] : [];
    // The limit of a subscription has a status instead of a remaining count.
    return name === "anthropic-ratelimit-unified-status" && readText(headers, name) === "rejected"
      ? [readText(headers, "anthropic-ratelimit-unified-reset")]
      : [];
  });
}

/** Seconds above this number are a time since the epoch. */
const EPOCH_SECONDS = 1_000_000_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses seconds, a time since the epoch, durations such as `6m0s`, and dates. Returns null for anything else. */
function parseTime(text: string, now: number): number | null {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) >= EPOCH_SECONDS ? Number(text) * 1_000 : now + Number(text) * 1_000;
  if (/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    return now + parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

function readText(headers: Headers, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? (value[0] ?? "") : (value ?? "")).trim();
}
