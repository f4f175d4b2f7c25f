import { z } from "zod";

/** A time on the wire: ISO 8601, UTC. */
export const time = z.iso.datetime();

export const toIso = (at: number): string => new Date(at).toISOString();
export const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at));
