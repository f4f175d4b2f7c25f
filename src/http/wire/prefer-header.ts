/** Maximum wait of one request. To wait longer, a client repeats the request. */
export const MAX_WAIT_SECONDS = 60;

/** OpenAPI description of the `Prefer` header. */
export const PREFER_DESCRIPTION = `\`wait=N\`: wait up to N seconds for the end of the task, at most ${MAX_WAIT_SECONDS}. \`Preference-Applied\` reports the applied wait. A value that is not a number of seconds is ignored.`;

/**
 * Parses `Prefer: wait=N` into seconds, at most `MAX_WAIT_SECONDS`; null if the client does not want to wait. As RFC
 * 7240 requires, malformed values and other preferences are ignored, and the first `wait` applies.
 */
export function parsePreferredWait(header: string | undefined): number | null {
  if (header === undefined) return null;
  const preferences = header.split(/[,;]/).map((preference) => preference.trim().split(/\s*=\s*/));
  const wait = preferences.find(([name]) => name?.toLowerCase() === "wait");
  const seconds = Number(/^"?(\d+)"?$/.exec(wait?.[1] ?? "")?.[1] ?? 0);
  return seconds === 0 ? null : Math.min(seconds, MAX_WAIT_SECONDS);
}
