/** The longest wait of one request. A client that waits longer asks again. */
export const MAX_WAIT_SECONDS = 60;

/** The `prefer` header of the routes that can wait for the end of a task. */
export const PREFER_DESCRIPTION = `\`wait=N\`: wait up to N seconds for the end of the task, at most ${MAX_WAIT_SECONDS}. \`Preference-Applied\` reports the applied wait. A value that is not a number of seconds is ignored.`;

/**
 * Seconds of `Prefer: wait=N`, at most `MAX_WAIT_SECONDS`; null when the client does not want to wait. As RFC 7240 requires, a value that cannot be
 * read and preferences of other names are ignored, and the first of several `wait` counts.
 */
export function parsePreferredWait(header: string | undefined): number | null {
  const preferences = (header ?? "").split(/[,;]/).map((preference) => preference.trim().split(/\s*=\s*/));
  const wait = preferences.find(([name]) => name?.toLowerCase() === "wait");
  const seconds = Number(/^"?(\d+)"?$/.exec(wait?.[1] ?? "")?.[1] ?? 0);
  return seconds === 0 ? null : Math.min(seconds, MAX_WAIT_SECONDS);
}
