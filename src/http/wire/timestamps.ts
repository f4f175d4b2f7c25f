import { z } from "zod";

/** Schema of a time: ISO 8601 in UTC. */
export const timestamp = z.iso.datetime();

/** Formats ms since the epoch as ISO 8601. */
export const toIso = (at: number): string => new Date(at).toISOString();
export const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at));
