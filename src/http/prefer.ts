import { BridgeError } from "../errors.ts";

/** Seconds of `Prefer: wait=N`; null when the client does not want to wait. Other preferences are not ours and are ignored. */
export function parsePreferredWait(header: string | undefined): number | null {
  const preferences = (header ?? "").split(/[,;]/).map((preference) => preference.trim().split(/\s*=\s*/));
  const wait = preferences.find(([name]) => name?.toLowerCase() === "wait");
  if (wait === undefined) return null;
  const seconds = /^"?(\d{1,3})"?$/.exec(wait[1] ?? "")?.[1];
  if (seconds !== undefined && Number(seconds) >= 1 && Number(seconds) <= 60) return Number(seconds);
  const errors = [{ path: "Prefer", message: "must be wait=N with N from 1 to 60" }];
  throw new BridgeError("invalid_request", "The Prefer header is not valid.", { errors });
}
