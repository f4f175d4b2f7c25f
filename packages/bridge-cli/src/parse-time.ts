import { CommandError } from "./command-error.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a time such as `2026-11-22T09:30:00Z`, or a duration before now such as `2h`, to ISO 8601 in UTC. */
export function parseTime(flag: string, text: string | undefined, now = Date.now()): string | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = amount === undefined ? Date.parse(text) : now - Number(amount) * (UNIT_MS[unit] ?? 0);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new CommandError("usage", `${flag} must be a time, such as 2026-11-22T09:30:00Z, or a duration, such as 2h; got "${text}".`);
}
